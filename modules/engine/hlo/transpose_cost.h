// SPDX-License-Identifier: Apache-2.0
// What the transposes of a module cost. Used by one thread.
#pragma once

#include <tuple>

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Whether elements move, and not only dimensions of size 1.
bool moves_elements(const xla::Shape& shape, absl::Span<const std::int64_t> order);

struct TransposeCost {
  std::int64_t bytes = 0;  // that are moved
  // Transposes right after a convolution, which keep its kernel from adding a bias.
  std::int64_t after_convolutions = 0;

  bool is_less_than(const TransposeCost& other) const {
    return std::tie(bytes, after_convolutions) < std::tie(other.bytes, other.after_convolutions);
  }
};

// Without those of weights; with `reads_strides` also without those that products with weights read
// through, by their strides. REQUIRES: no dead code.
TransposeCost cost_of_transposes(const xla::HloModule& module, std::int64_t first_weight,
                                 bool reads_strides);

}  // namespace tfaot::toolkit::engine
