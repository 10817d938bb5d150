// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <string>

#include "tfaot/base/process.h"

namespace tfaot::toolkit::testing {

// A shell in `folder` that finds the tool in its PATH.
inline ProcessSpec shell_with_tool(const Path& folder, const std::string& command) {
  ProcessSpec process;
  process.program = "sh";
  process.arguments = {"-euc", command};
  process.working_directory = folder;
  process.environment["PATH"] = Path(TFAOT_TOOL).parent_path().string() + ":" + std::getenv("PATH");
  return process;
}

}  // namespace tfaot::toolkit::testing
