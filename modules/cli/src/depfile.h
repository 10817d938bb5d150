// SPDX-License-Identifier: Apache-2.0
// The rule "target: prerequisites" in the syntax that make and Ninja share. Pure function.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/file_system.h"

namespace tfaot {

// Blanks, '#' and '$' in paths are escaped.
std::string depfile_text(const Path& target, const std::vector<Path>& prerequisites);

}  // namespace tfaot
