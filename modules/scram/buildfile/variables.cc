// SPDX-License-Identifier: Apache-2.0
#include "buildfile/variables.h"

#include <fmt/format.h>

#include <algorithm>

#include "grammar/references.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kLongestQuote = 200;

}  // namespace

const std::string* Variables::find(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto entry = scope->find(name);
    if (entry != scope->end()) return &entry->second;
  }
  return nullptr;
}

Result<std::string> Variables::expand_for_shell(const std::string& text) const {
  // In tool files $NAME counts as well, and a name without a value drops the whole value.
  const ReferenceRules rules{.forms = {ReferenceForm::kBraces, ReferenceForm::kParentheses}};
  Expansion expansion =
      expand_references(text, rules, [this](const std::string& name) { return find(name); });
  if (expansion.is_too_much) {
    return fail(Error(fmt::format("the variables in '{}' expand to too much, or to themselves",
                                  text.substr(0, kLongestQuote)))
                    .note(fmt::format("the limits are {} values and {} characters", kMostReplaced,
                                      kLongestValue)));
  }
  return std::move(expansion.text);
}

Result<std::string> Variables::expand(const std::string& text) const {
  TFAOT_ASSIGN(std::string expanded, expand_for_shell(text));
  const std::size_t start = std::min(expanded.find("${"), expanded.find("$("));
  if (start == std::string::npos) return expanded;
  const std::size_t end = expanded.find(expanded[start + 1] == '{' ? '}' : ')', start);
  const std::size_t size = end == std::string::npos ? 0 : end - start - 2;
  return fail(Error(fmt::format("the variable in '{}' is unknown", text.substr(0, kLongestQuote)))
                  .note(fmt::format("give it a value: VARIABLES {}=<value>",
                                    expanded.substr(start + 2, size))));
}

}  // namespace tfaot::toolkit
