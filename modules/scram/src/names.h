// SPDX-License-Identifier: Apache-2.0
// How scram makes names of names. Pure function.
#pragma once

#include <string>

namespace tfaot {

// The variable of a tool's folder: "TFAOT_RUNTIME_BASE" of "tfaot-runtime".
std::string base_name(const std::string& tool);

}  // namespace tfaot
