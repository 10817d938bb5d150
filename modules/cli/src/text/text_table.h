// SPDX-License-Identifier: Apache-2.0
// Rows of cells -> text with aligned columns; cells become printable lines. Pure function.
#pragma once

#include <string>
#include <vector>

namespace tfaot::toolkit {

// Two spaces between columns, none at the end of a line. Rows may differ in length.
std::string text_table(std::vector<std::vector<std::string>> rows);

}  // namespace tfaot::toolkit
