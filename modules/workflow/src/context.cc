// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

std::string Environment::variable(const std::string& name) const {
  const auto found = variables.find(name);
  return found == variables.end() ? std::string() : found->second;
}

Path Context::absolute(const Path& path) const {
  const Path normal = (environment.working_directory / path).lexically_normal();
  return normal.has_filename() || !normal.has_relative_path() ? normal : normal.parent_path();
}

std::string cmssw_relative(const Environment& environment, const Path& path) {
  if (environment.cmssw_base.empty()) return path.string();
  const Path base = Path(environment.cmssw_base).lexically_normal();
  const std::string inside = path.lexically_relative(base).string();
  if (inside.empty() || inside == ".." || inside.rfind("../", 0) == 0) return path.string();
  return inside == "." ? "$CMSSW_BASE" : "$CMSSW_BASE/" + inside;
}

void warn_of_blanks(Diagnostics& diagnostics, const std::string& tool_base) {
  if (tool_base.find(' ') == std::string::npos) return;
  diagnostics.warning(
      "scram cannot use the tool file: it splits flags at spaces, and the base is '" + tool_base +
      "'");
}

}  // namespace tfaot::toolkit
