// SPDX-License-Identifier: Apache-2.0
// The names of models and of scram tools, and what follows from them. Pure functions.
#pragma once

#include <filesystem>
#include <string>

namespace tfaot::toolkit {

// Replaces everything that is not an ASCII letter or digit by '_': "x86_64_v3" for "x86-64-v3".
std::string identifier_of(std::string text);

// The name that a model has by its file or folder: "my_tagger" for "my-tagger/saved_model". It may
// be a C++ keyword.
std::string name_from_path(const std::filesystem::path& model);

// The variable of a tool's folder: "TFAOT_RUNTIME_BASE" for "tfaot-runtime".
std::string base_variable(const std::string& tool_name);

// The name under which scram looks for a tool's file in a toolbox: "tfaot-model-net.xml" for
// "tfaot-model-Net".
std::string toolbox_file_name(const std::string& tool_name);

}  // namespace tfaot::toolkit
