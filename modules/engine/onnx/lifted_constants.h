// SPDX-License-Identifier: Apache-2.0
// Large Constant nodes become initializers of the model's graph, also those of graphs inside of
// nodes and of the model's own functions, which then take them as inputs. Likewise initializers of
// graphs inside of nodes. Which ones: lowering/weight_rule.h. Pure functions.
#pragma once

#include "onnx/onnx_scope.h"

namespace tfaot::toolkit::engine {

// REQUIRES: functions of the model do not call themselves.
void lift_onnx_constants(OnnxModel& model);

}  // namespace tfaot::toolkit::engine
