// SPDX-License-Identifier: Apache-2.0
// Tables of numbers as text: a line of column names, then a line for each row. The columns of an
// array of one number per row have its name; otherwise there is one for each element, "x[0]",
// "x[1]", or "x[0][1]". Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tfaot/arrays/array.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// Appends the number that the text is, as a cell holds it. False: it is none of this type.
bool append_number(std::string& bytes, DType dtype, std::string_view text);

// "x[0][1]", in the order of the elements of a row.
std::vector<std::string> column_names(const TensorSpec& tensor);

// The arrays of `tensors`, in their order. Columns may have any order, and others are skipped. For
// "x[0]" also "x" will do, if that is all of the tensor.
// `where` names the file in errors.
Result<std::vector<Array>> csv_from_text(std::string_view text,
                                         const std::vector<TensorSpec>& tensors,
                                         const std::string& where);

// All arrays beside each other. Numbers are as short as they can be and still read as the same.
// REQUIRES: the arrays have the same number of rows. Error: a name cannot be that of a column.
Result<std::string> csv_to_text(const std::vector<Array>& arrays);

// One row's cells, as csv_to_text() writes them.
std::vector<std::string> csv_cells(const std::vector<Array>& arrays, std::int64_t row);
// The arrays without their first dimension.
std::vector<TensorSpec> tensors_of(const std::vector<Array>& arrays);

}  // namespace tfaot::toolkit
