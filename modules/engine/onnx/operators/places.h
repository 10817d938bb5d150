// SPDX-License-Identifier: Apache-2.0
// Reading and writing elements at places: what the operators that index tensors share.
#pragma once

#include <cstdint>
#include <vector>

#include "onnx/node.h"

namespace tfaot::toolkit::engine {

inline std::int64_t size_at(const Dimensions& sizes, std::int64_t axis) {
  return sizes[static_cast<std::size_t>(axis)];
}
inline std::int64_t& size_at(Dimensions& sizes, std::int64_t axis) {
  return sizes[static_cast<std::size_t>(axis)];
}

// Dimensions from `first` to before `end`.
Dimensions dimension_range(std::int64_t first, std::int64_t end);

// Zeros (false) of that type and these sizes.
xla::XlaOp zeros_of(const Node& node, xla::PrimitiveType type, const Dimensions& sizes);

// Its index along one dimension, for each element of a tensor of these sizes.
xla::XlaOp index_along(const Node& node, xla::PrimitiveType type, const Dimensions& sizes,
                       std::int64_t axis);

// Indices of one dimension as ONNX counts them: negative ones from the end.
xla::XlaOp counted_from_start(const Node& node, xla::XlaOp indices, std::int64_t size);

// The elements at known places (from 0 on) of one dimension; by slices if they are few.
xla::XlaOp take_places(const Node& node, xla::XlaOp x, std::int64_t axis,
                       const std::vector<std::int64_t>& places);

}  // namespace tfaot::toolkit::engine
