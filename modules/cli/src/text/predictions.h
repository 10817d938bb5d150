// SPDX-License-Identifier: Apache-2.0
// The predictions of `tfaot run` as a table. Pure function.
#pragma once

#include <string>
#include <vector>

#include "tfaot/arrays/array.h"

namespace tfaot::toolkit {

// A line for each row, a column for each element. Of many rows or columns only the first ones; then
// the last line says what is left out. REQUIRES: the arrays have the same number of rows.
std::string predictions_table(const std::vector<Array>& outputs);

}  // namespace tfaot::toolkit
