// SPDX-License-Identifier: Apache-2.0
// One model from models for parts of a range of sizes, such as K = min(n, 54), which computes
// otherwise from 54 on: a branch for each part. Used by one thread.
#pragma once

#include <vector>

#include "compiler/sizes/sized_model.h"
#include "tfaot/records/free_sizes.h"

namespace tfaot::toolkit::engine {

// A part of the range, and the model there: with_free_sizes(), or the model of its one size.
struct SizePiece {
  std::vector<FreeDimension> range;
  std::vector<SizeSample> samples;  // none: it has one size
  int bits = 0;                     // of the sizes, that its numbers may follow
  OptimizedModel model;
  bool has_all = false;                 // its samples are all sizes, from the largest on
  std::int64_t smallest_free_size = 0;  // Choices of the samples
};
// Given a size of a piece whose samples have counts: a size is the step of its range * the count +
// the rest of the range's sizes.
SizeFormula of_sizes(const SizeFormula& of_counts, const std::vector<FreeDimension>& range);
// What each output is in all pieces: where it is not the same, a vector of the most elements, which
// fits the memory of the output.
std::vector<xla::Shape> joined_outputs(const std::vector<SizePiece>& pieces,
                                       std::int64_t batch_size);
// Inputs, too, are vectors of the most elements. `range`: of all sizes, which
// are in one piece each.
Result<OptimizedModel> joined_pieces(const std::vector<SizePiece>& pieces,
                                     const std::vector<FreeDimension>& range,
                                     std::int64_t batch_size, Traces traces = Traces::kRemoved);

}  // namespace tfaot::toolkit::engine
