// SPDX-License-Identifier: Apache-2.0
// How scram makes names of names. Pure functions.
#pragma once

#include <string>

namespace tfaot {

// ASCII letters only, whatever the locale.
std::string lower_name(std::string text);
std::string upper_name(std::string text);
// The variable of a tool's folder: "TFAOT_RUNTIME_BASE" of "tfaot-runtime".
std::string base_name(const std::string& tool);

}  // namespace tfaot
