// SPDX-License-Identifier: Apache-2.0
// Which ONNX operators can be compiled, for `tfaot check --ops`. Pure.
#pragma once

#include <vector>

#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {

// Sorted by domain and name; without nodes.
std::vector<CheckedOperation> known_onnx_operators();

}  // namespace tfaot::toolkit::engine
