// SPDX-License-Identifier: Apache-2.0
// Lists of files in the syntax of build tools. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit {

// The rule "target: prerequisites" for make and Ninja. Spaces, '#' and '$' are escaped.
std::string depfile_text(const Path& target, const std::vector<Path>& prerequisites);

// A response file, "@FILE", of gcc and binutils: one quoted path per line.
std::string response_file_text(const std::vector<Path>& paths);

}  // namespace tfaot::toolkit
