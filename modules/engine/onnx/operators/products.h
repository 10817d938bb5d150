// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnx/node.h"

namespace tfaot::toolkit::engine {

// As numpy.matmul. The last two dimensions are matrices, the others a batch that broadcasts. A
// vector on the left is a row, on the right a column, and its dimension is taken out of the result.
xla::XlaOp multiply_matrices(const Node& node, xla::XlaOp a, xla::XlaOp b);

}  // namespace tfaot::toolkit::engine
