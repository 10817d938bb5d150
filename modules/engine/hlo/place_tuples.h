// SPDX-License-Identifier: Apache-2.0
// The indices of a scatter: for each place, one coordinate after the other. Used by one thread.
#pragma once

#include <optional>

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

class PlaceTuples {
 public:
  // Nothing: coordinates are not the last dimension, or not made one by one.
  static std::optional<PlaceTuples> of(xla::HloInstruction& indices, std::int64_t index_vector_dim);

  // A dimension of at most `largest` places whose number is the coordinate, and along which no
  // other coordinate varies.
  std::optional<std::int64_t> counted_dimension(std::int64_t coordinate,
                                                std::int64_t largest) const;

  // Indices without a coordinate and the dimension that it counts.
  // REQUIRES: counted_dimension() of the coordinate, and another coordinate.
  xla::HloInstruction* without(std::int64_t coordinate, std::int64_t dimension) const;

 private:
  explicit PlaceTuples(std::vector<xla::HloInstruction*> coordinates)
      : coordinates_(std::move(coordinates)) {}

  std::vector<xla::HloInstruction*> coordinates_;  // the last dimension has one element
};

}  // namespace tfaot::toolkit::engine
