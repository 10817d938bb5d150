// SPDX-License-Identifier: Apache-2.0
// Reading ONNX files. Tells the constants of a graph that are weights from those that are part of
// the code, since shapes, axes, conditions or bounds are computed from them. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "front/onnx/node.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

// Large constants are initializers of the graph, wherever the file has them. Errors name the file:
// it cannot be read or is not an ONNX model, two of its values have the same name, or nodes or
// functions need themselves.
Result<OnnxModel> read_onnx(const std::string& file);

// Initializers that are weights, in their order of first use by the outputs. REQUIRES: functions of
// the model do not call themselves.
struct OnnxWeight {
  std::string name;
  const onnx::TensorProto* tensor = nullptr;
};
std::vector<OnnxWeight> weights_of(const OnnxModel& model);

}  // namespace tfaot::toolkit::engine
