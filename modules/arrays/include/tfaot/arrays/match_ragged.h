// SPDX-License-Identifier: Apache-2.0
// Rows of different sizes in a file: for each free dimension an array of its name says where the
// elements of each row begin (rows + 1 offsets, the first 0), and an input of a free shape holds
// all rows, one after another. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tfaot/arrays/match_inputs.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// True if rows of the tensor may have different sizes.
bool is_ragged(const TensorSpec& tensor);

// True if an array has the name of a free dimension, which no input has.
bool has_offsets(const std::vector<Array>& arrays, const WantedInputs& inputs);

// As match_inputs(), which takes rows of one size. REQUIRES: has_offsets().
Result<ModelInputs> match_ragged_inputs(std::vector<Array> arrays, const WantedInputs& inputs,
                                        const std::string& where);

// All rows of a tensor at the sizes of the offsets, zeros. Its shape is [rows, ...] if it has the
// same size in all of them, [elements of all rows, ...] if only the first dimension of a row has
// another size, else one dimension.
Array make_ragged_array(const TensorSpec& tensor, const RowOffsets& offsets);

}  // namespace tfaot::toolkit
