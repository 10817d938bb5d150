// SPDX-License-Identifier: Apache-2.0
// Rules of STYLE that need only the texts of files: licence lines, the lines of a room, and CMake
// commands and C++ calls that are banned or belong to one room.
#pragma once

#include "tests/architecture/source_tree.h"

namespace tfaot::toolkit::architecture {

// An SPDX line among the first two lines (a "#!" may be the first).
Violations check_licences(const SourceTree& tree);
// Each room of modules/ has a ceiling of lines, and is near it.
Violations check_lengths(const SourceTree& tree);
// In cmake_rules.cc: targets and properties only.
Violations check_cmake_commands(const SourceTree& tree);
// In call_rules.cc: environment, working directory, files, processes and the end of the process
// have one room each.
Violations check_calls(const SourceTree& tree);

}  // namespace tfaot::toolkit::architecture
