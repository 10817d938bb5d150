// SPDX-License-Identifier: Apache-2.0
// $NAME, ${NAME} and $(NAME) in values, and how scram replaces them. Pure functions.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tfaot::toolkit {

enum class ReferenceForm { kPlain, kBraces, kParentheses };

// A limit for values that refer to other values: $A with $B in it, and $B with $A, would never end.
constexpr int kMostReplaced = 1000;
constexpr std::size_t kLongestValue = 100'000;  // characters

// Which references a kind of file knows, and what happens to a name without a value.
struct ReferenceRules {
  std::vector<ReferenceForm> forms;  // all of the first form are replaced before the next form
  bool stops_at_unknown = false;     // else unknown names stay
};

struct Expansion {
  std::string text{};        // empty if one of the others is set
  std::string unknown{};     // the name that it stopped at
  bool is_too_much = false;  // a limit was reached
};

// The value of a name; null if it has none.
using ValueOfName = std::function<const std::string*(const std::string& name)>;

// Like scram: replaces the last reference first, repeatedly, also in the inserted values. So a name
// may contain references: "${A${B}}".
Expansion expand_references(const std::string& text, const ReferenceRules& rules,
                            const ValueOfName& value_of);

}  // namespace tfaot::toolkit
