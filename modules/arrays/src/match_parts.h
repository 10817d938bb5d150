// SPDX-License-Identifier: Apache-2.0
// What matching rows of one size and of different sizes have in common.
#pragma once

#include <string>
#include <vector>

#include "tfaot/arrays/array.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// The array with the input's name, or the one without a name of the only input.
Result<Array> take_array(std::vector<Array>& arrays, const TensorSpec& input, bool is_only_input,
                         const std::string& where);
// Makes it the input's type. Error: that could change numbers.
Status fit_dtype(Array& array, const TensorSpec& input, const std::string& where);

}  // namespace tfaot::toolkit
