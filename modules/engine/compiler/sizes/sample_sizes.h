// SPDX-License-Identifier: Apache-2.0
// The sizes of free dimensions at which a model is optimised. Pure.
#pragma once

#include <vector>

#include "compiler/hlo/hlo.h"
#include "tfaot/records/free_sizes.h"

namespace tfaot::toolkit::engine {

// Where the sizes of samples lie.
enum class SampleSide {
  kAbove,   // from the largest sizes on: the tables of the first sample have all elements
  kBelow,   // up to them, for models with a weight for each index of a dimension
  kWithin,  // all of a small range
};
// Points at which a model has the form that it has at nearly all sizes: none is small, and all are
// different primes (kBelow: or of 32 at most), so that no number of the model is the same by
// chance. A dimension of one size has this size in all. No point has a smaller size than the first
// (kAbove) or a larger one (kBelow: it has the largest sizes, whatever they are, and its tables
// have all elements). May be fewer than `count`. `bits`: the lowest ones of the sizes differ in all
// ways; a size is then a prime, or a prime times a power of two.
std::vector<Dimensions> sample_sizes(const std::vector<FreeDimension>& own, SampleSide range,
                                     std::size_t count, int bits = 0);

}  // namespace tfaot::toolkit::engine
