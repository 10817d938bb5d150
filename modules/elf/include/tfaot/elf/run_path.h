// SPDX-License-Identifier: Apache-2.0
// Where the loader looks for the libraries of a program. Pure function on bytes.
#pragma once

#include <string>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// Its RUNPATH or RPATH; empty if it has none.
Result<std::string> run_path(const std::string& program);

}  // namespace tfaot::toolkit
