// SPDX-License-Identifier: Apache-2.0
// Inputs at which code made by different compilers may differ: very large and very small numbers,
// NaN, infinities, the ends of whole numbers. The same numbers on every machine. Pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "tfaot/arrays/array.h"
#include "tfaot/records/validation.h"

namespace tfaot::toolkit {

// The kinds that change some input of these, without kFile: those of real numbers only if an input
// has them, those of whole numbers likewise.
std::vector<InputKind> kinds_of_inputs(const std::vector<TensorSpec>& tensors);

struct EdgeOptions {
  InputKind kind = InputKind::kRandom;
  std::int64_t rows = 1;
  std::uint64_t seed = 1;
};
// Inputs that the kind says nothing about are random. REQUIRES: the kind is not kFile.
std::vector<Array> edge_arrays(const std::vector<TensorSpec>& tensors, const EdgeOptions& options);

}  // namespace tfaot::toolkit
