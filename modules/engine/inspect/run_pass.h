// SPDX-License-Identifier: Apache-2.0
// tfaot-engine --run-pass NAME FILE [INPUTS]: one pass of the optimizer by hand. Used by one
// thread.
#pragma once

#include <cstdint>
#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

inline constexpr const char* kRunPassOption = "--run-pass";

struct PassQuestion {
  std::string pass;  // Pass::name
  std::string file;  // HLO: a proto if its name ends in ".pb", otherwise text
  // How many parameters of the entry computation are inputs, the others are weights; empty: all.
  std::string inputs = {};
};

// The text of the module after the pass. Errors name all passes, or the file.
Result<std::string> run_pass(const FileSystem& fs, const PassQuestion& question);

}  // namespace tfaot::toolkit::engine
