// SPDX-License-Identifier: Apache-2.0
// Tells the constants of an ONNX graph that are weights from those that are part of the code, since
// shapes, axes, conditions or bounds are computed from them. Pure functions. REQUIRES: functions of
// the model do not call themselves.
#pragma once

#include <string>
#include <vector>

#include "front/onnx/onnx_scope.h"

namespace tfaot::toolkit::engine {

// Makes large Constant nodes initializers of the model's graph, also those of graphs inside of
// nodes and of the model's own functions, which then take them as inputs; likewise initializers of
// graphs inside of nodes. Which ones: lowering/conversions.h.
void lift_onnx_constants(OnnxModel& model);

// Initializers that are weights, in their order of first use by the outputs.
struct OnnxWeight {
  std::string name;
  const onnx::TensorProto* tensor = nullptr;
};
std::vector<OnnxWeight> weights_of(const OnnxModel& model);

}  // namespace tfaot::toolkit::engine
