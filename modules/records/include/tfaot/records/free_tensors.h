// SPDX-License-Identifier: Apache-2.0
// Tensors whose shapes follow free sizes: at given sizes, for people, and which sizes shapes have.
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/free_sizes.h"

namespace tfaot::toolkit {

// The tensors at these sizes of the dimensions: none of them is free any more.
std::vector<TensorSpec> tensors_at(std::vector<TensorSpec> tensors,
                                   const std::vector<std::int64_t>& sizes);
Signature signature_at(Signature signature, const std::vector<std::int64_t>& sizes);

// Each dimension of a row for people: "2", "n_pf".
std::vector<std::string> row_shape_texts(const TensorSpec& tensor,
                                         const std::vector<FreeDimension>& sized);

// The sizes at which the inputs have these shapes of a row, one shape for each input. Only axes
// that follow one size alone count; whether all others fit is left to the caller. Error, naming
// inputs and axes (0: the rows): a size is out of its range, two axes disagree, or none gives it.
Result<std::vector<std::int64_t>> sizes_of_shapes(
    const std::vector<TensorSpec>& inputs, const std::vector<std::vector<std::int64_t>>& row_shapes,
    const std::vector<FreeDimension>& sized);

// What is wrong with the dimensions and with formulas in a signature that was read; empty: nothing.
// All functions here, and size_at(), take only what passed.
std::string free_sizes_problem(const Signature& signature,
                               const std::vector<FreeDimension>& dimensions);

}  // namespace tfaot::toolkit
