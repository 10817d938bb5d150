// SPDX-License-Identifier: Apache-2.0
// Decision trees as HLO: all rows walk all trees at once, step by step. It is a call of a
// computation of its own, which a kernel replaces (kernels/forest_calls.h). Used by one thread.
#pragma once

#include "onnx/forest/forest.h"
#include "onnx/node.h"

namespace tfaot::toolkit::engine {

// What the trees say together, without base values: [rows, targets], F32 or F64. `x`: [rows,
// features], F32 or F64. The tables become weights named after the node.
xla::XlaOp walk_forest(Node& node, xla::XlaOp x, const Forest& forest);

}  // namespace tfaot::toolkit::engine
