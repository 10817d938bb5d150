// SPDX-License-Identifier: Apache-2.0
// Which values of an ONNX graph must, or should, be known while compiling: shapes, axes,
// conditions, bounds and all that they are computed from. Pure functions.
#pragma once

#include <set>
#include <string>

#include "onnx/onnx_scope.h"

namespace tfaot::toolkit::engine {

// By name, of the graph and of the graphs inside of its nodes. REQUIRES: functions of the model do
// not call themselves.
std::set<std::string> needed_values(const OnnxModel& model, const onnx::GraphProto& graph);

}  // namespace tfaot::toolkit::engine
