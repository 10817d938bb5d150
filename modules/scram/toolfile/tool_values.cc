// SPDX-License-Identifier: Apache-2.0
#include "toolfile/tool_values.h"

#include "grammar/references.h"

namespace tfaot::toolkit {

ResolvedValue ToolValues::resolve(const std::string& value) const {
  // References in a BuildFile are different: there scram leaves $NAME to the shell, and names
  // without a value to make.
  const ReferenceRules rules{.forms = {ReferenceForm::kBraces, ReferenceForm::kPlain},
                             .stops_at_unknown = true};
  std::string blank;
  const auto value_of = [&](const std::string& name) -> const std::string* {
    const auto own = own_.find(name);
    const auto outer = environment_.find(name);
    if (own == own_.end() && outer == environment_.end()) return nullptr;
    const std::string& found = own != own_.end() ? own->second : outer->second;
    if (found.find(' ') != std::string::npos) blank = name;
    return &found;
  };
  Expansion expansion = expand_references(value, rules, value_of);
  if (expansion.is_too_much) return {.is_endless = true};
  if (!expansion.unknown.empty()) return {.undefined = std::move(expansion.unknown)};
  return {.text = std::move(expansion.text), .blank = std::move(blank)};
}

}  // namespace tfaot::toolkit
