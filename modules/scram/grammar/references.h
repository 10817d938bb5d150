// SPDX-License-Identifier: Apache-2.0
// $NAME, ${NAME} and $(NAME) in values, and how scram puts other values in their place. Pure
// functions.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tfaot::toolkit {

enum class ReferenceForm { kPlain, kBraces, kParentheses };

// A limit for values that are made of other values: $A of $B of $A would never end.
constexpr int kMostReplaced = 1000;
constexpr std::size_t kLongestValue = 100'000;  // characters

// Which references a kind of file knows, and what becomes of a name that has no value.
struct ReferenceRules {
  std::vector<ReferenceForm> forms;  // all of the first form go before those of the next
  bool stops_at_unknown = false;     // else they stay
};

struct Expansion {
  std::string text{};        // empty when one of the others is set
  std::string unknown{};     // the name that it stopped at
  bool is_too_much = false;  // a limit
};

// The value of a name; null: it has none.
using ValueOfName = std::function<const std::string*(const std::string& name)>;

// As scram does: the last reference first, again and again, in the values that are put in too. So a
// name may be made of values: "${A${B}}".
Expansion expand_references(const std::string& text, const ReferenceRules& rules,
                            const ValueOfName& value_of);

}  // namespace tfaot::toolkit
