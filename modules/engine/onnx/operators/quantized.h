// SPDX-License-Identifier: Apache-2.0
// Small integers that stand for real numbers: (integer - zero point) * scale.
#pragma once

#include "onnx/node.h"

namespace tfaot::toolkit::engine {

// The operand as int32 without its zero point, which is one for all or none (left out).
xla::XlaOp without_zero_point(const Node& node, int operand, int zero);

// The real values rounded to the nearest (even) integers, plus the zero point, in its type. What is
// out of its range becomes its least or largest number. Zero points: one, or as many as values.
xla::XlaOp saturated(const Node& node, xla::XlaOp values, xla::XlaOp zero);

}  // namespace tfaot::toolkit::engine
