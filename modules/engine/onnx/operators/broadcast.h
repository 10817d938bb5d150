// SPDX-License-Identifier: Apache-2.0
// What many operators need: NumPy's broadcasting, constants of a type, slices of one dimension.
#pragma once

#include <vector>

#include "onnx/node.h"

namespace tfaot::toolkit::engine {

// The sizes that all of these broadcast to. Refuses those that do not match.
Dimensions common_sizes(const Node& node, const std::vector<Dimensions>& all);

// As numpy.broadcast_to: new dimensions come first.
xla::XlaOp broadcast_to(const Node& node, xla::XlaOp op, const Dimensions& sizes);

// All operands of the node, broadcast together.
std::vector<xla::XlaOp> broadcast_operands(const Node& node);

// A scalar of the type.
xla::XlaOp scalar(const Node& node, xla::PrimitiveType type, double value);
// A scalar of the type of `like`. XLA spreads scalars itself.
xla::XlaOp scalar_like(const Node& node, xla::XlaOp like, double value);

xla::XlaOp constant_integers(const Node& node, const std::vector<std::int64_t>& values);

// Without these dimensions. Half floats are added up as float32 and rounded once, as NumPy does.
xla::XlaOp sum_over(const Node& node, xla::XlaOp op, const std::vector<std::int64_t>& axes);

bool is_real(xla::PrimitiveType type);      // floating point
bool is_unsigned(xla::PrimitiveType type);  // an integer

}  // namespace tfaot::toolkit::engine
