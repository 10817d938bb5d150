// SPDX-License-Identifier: Apache-2.0
// The names of scram tools, and what follows from them. Pure functions.
#pragma once

#include <string>

namespace tfaot::toolkit {

// What is no ASCII letter or digit becomes '_': "x86_64_v3" of "x86-64-v3".
std::string identifier_of(std::string text);

// The variable of a tool's folder: "TFAOT_RUNTIME_BASE" of "tfaot-runtime".
std::string base_variable(const std::string& tool_name);

// The name of a tool's file in a toolbox, as scram looks for it: "tfaot-model-net.xml" of
// "tfaot-model-Net".
std::string toolbox_file_name(const std::string& tool_name);

}  // namespace tfaot::toolkit
