// SPDX-License-Identifier: Apache-2.0
// Sparse initializers and sparse constants become dense ones as soon as a model is read: nothing
// else sees them. Pure, except for files with external data.
#pragma once

#include "onnx/onnx_scope.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

// Of all graphs and functions of the model. Errors: indices that are wrong or not in order, far
// more zeros than values.
Status make_dense(OnnxModel& model);

}  // namespace tfaot::toolkit::engine
