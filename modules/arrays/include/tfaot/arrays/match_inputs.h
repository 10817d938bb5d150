// SPDX-License-Identifier: Apache-2.0
// Finds a model's inputs among the arrays of a file. Pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/arrays/array.h"
#include "tfaot/base/result.h"
#include "tfaot/records/free_sizes.h"

namespace tfaot::toolkit {

// Of each free dimension: where the elements of each row begin, and the end of the last one.
using RowOffsets = std::vector<std::vector<std::size_t>>;

struct ModelInputs {
  std::int64_t rows = 0;
  std::vector<Array> arrays;             // in the model's order
  std::vector<std::int64_t> sizes = {};  // of the free dimensions
  RowOffsets offsets = {};               // of rows of different sizes, in place of `sizes`
};

// A model's inputs, and the free dimensions that have sizes of their own; without these, inputs
// have their largest sizes.
struct WantedInputs {
  std::vector<TensorSpec> tensors;
  std::vector<FreeDimension> dimensions = {};
  bool may_be_ragged = false;  // of files: match_ragged.h
};

// By name; an array without a name is the only input. Arrays of other names are left out. Elements
// become those of a wider type if that changes no number (kKeepsNumbers); nothing else is
// converted. Sizes of free dimensions follow from the shapes. `where` names the file in errors.
// REQUIRES: the model has inputs.
Result<ModelInputs> match_inputs(std::vector<Array> arrays, const WantedInputs& inputs,
                                 const std::string& where);

}  // namespace tfaot::toolkit
