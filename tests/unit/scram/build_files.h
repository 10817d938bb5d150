// SPDX-License-Identifier: Apache-2.0
// Short ways to read a BuildFile in tests.
#pragma once

#include <string>

#include "tfaot/base/text.h"
#include "tfaot/scram/buildfile.h"

namespace tfaot::toolkit::testing {

inline Result<BuildFile> parse(const std::string& text, const BuildConditions& conditions = {}) {
  return parse_build_file({"BuildFile.xml", text, {{"GIVEN", "value"}}}, conditions);
}

inline Result<BuildPlan> plan(const std::string& text, const std::string& folder = "plugins") {
  TFAOT_ASSIGN(const BuildFile file, parse(text));
  return plan_build(file, {"Sub/Pkg", folder});
}

template <class T>
std::string error_of(const Result<T>& result) {
  return result ? "no error" : result.error().text();
}

inline std::string names_of(const std::vector<BuildUse>& uses) {
  std::vector<std::string> names;
  for (const BuildUse& use : uses) names.push_back(use.name);
  return join(names, " ");
}

}  // namespace tfaot::toolkit::testing
