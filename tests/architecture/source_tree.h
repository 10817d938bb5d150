// SPDX-License-Identifier: Apache-2.0
// The project's own text files, read once, for the checks in this folder. Pure, except for
// read_sources().
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit::architecture {

struct SourceFile {
  std::string path;  // relative to the project, with '/'
  std::string text;
};
using SourceTree = std::vector<SourceFile>;

// The findings of a check, each as "path:line: text"; empty if the rule is kept.
using Violations = std::vector<std::string>;

// The project's folders.
inline constexpr std::array<std::string_view, 8> kProjectFolders = {
    ".ci", "cmake", "docs", "examples", "modules", "packaging", "templates", "tests"};

// C++, CMake, shell and Python files below the project's folders, without build trees and files
// that tfaot made (tests/golden).
Result<SourceTree> read_sources(const FileSystem& fs, const Path& project);
// This project, read once.
const SourceTree& project();

bool is_cpp(std::string_view path);
bool is_cmake(std::string_view path);

// The same text, line by line, with C++ comments and the contents of literals blanked out.
std::string without_comments_and_literals(std::string_view cpp);

}  // namespace tfaot::toolkit::architecture
