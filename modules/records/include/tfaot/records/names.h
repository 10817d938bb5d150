// SPDX-License-Identifier: Apache-2.0
// The names that tools, versions, files and paths of a package may have, and names derived from
// them. Names of C++ are in cpp_names.h, limits of length in base/limits.h. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace tfaot::toolkit {

// The scram tool that every model's tool uses. Its file NAME.xml is in the same folder as theirs.
inline constexpr std::string_view kRuntimeToolName = "tfaot-runtime";

// "tfaot-model-" + the name with '-' instead of '_'.
std::string default_tool_name(const std::string& model_name);
// True if a model's tool cannot have this name, because the runtime's tool or scram itself uses it.
bool is_reserved_tool_name(const std::string& name);

// A version that CMake can compare: up to four numbers, "1.0.0".
bool is_dotted_version(const std::string& version);

// True for non-empty [A-Za-z0-9._+-] without a leading '.', '-' or '+': a file name that is
// harmless in a shell, in CMake and in scram.
bool is_safe_name(std::string_view name);

// Which paths a package may hold: relative, '/' between parts, no part empty, "." or "..",
// printable ASCII without '\'. Such a path means the same file in every archive format, locale and
// file system, and never leaves the package's folder.
bool is_package_path(std::string_view path);

// "x86_64" for "x86_64-unknown-linux-gnu".
std::string processor_of(std::string_view target_triple);
// "x86_64-linux" for "x86_64-unknown-linux-gnu".
std::string architecture_of(const std::string& target_triple);

}  // namespace tfaot::toolkit
