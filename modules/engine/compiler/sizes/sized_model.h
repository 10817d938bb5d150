// SPDX-License-Identifier: Apache-2.0
// A model for all sizes of its free dimensions, from the same model optimised at some fixed sizes.
// Where these have the same instructions, each of their numbers (dimensions, words of kernel calls,
// constants) is a polynomial of the sizes. Tensors lie in memory as they do at the actual sizes, so
// results are those of the model compiled for these. Used by one thread.
#pragma once

#include <memory>
#include <vector>

#include "compiler/code/optimize.h"
#include "compiler/sizes/sampled_numbers.h"

namespace tfaot::toolkit::engine {

struct SizeSample {
  Dimensions sizes;  // of each free dimension
  std::shared_ptr<const OptimizedModel> model;
  SharedModule module;  // the same, to read
};

struct SizedModelOptions {
  const WeightStore& weights;
  Traces traces = Traces::kRemoved;
  Dimensions smallest;                   // sizes
  Dimensions widest;                     // inputs have the elements at these sizes
  std::vector<xla::Shape> outputs = {};  // of vectors, if they can be larger
  std::vector<std::string> names = {};   // of the dimensions, for errors
  int bits = 0;                          // of the sizes, that numbers may follow (SizePolynomial)
  // The samples are all sizes of one dimension, so constants that follow them by no rule become
  // tables of all their values.
  bool has_all = false;
};
// The last parameter of the model is a vector of the sizes. Its inputs and outputs are vectors of
// the elements at the largest sizes, and kElementsBeyond more. `samples`: of the same form, at
// least points_to_fit(); the first has the largest size of each dimension. Error: what cannot have
// a free size, by its node.
Result<OptimizedModel> with_free_sizes(const std::vector<SizeSample>& samples,
                                       const Dimensions& largest, const SizedModelOptions& options);

}  // namespace tfaot::toolkit::engine
