// SPDX-License-Identifier: Apache-2.0
// Reading ONNX files.
#pragma once

#include <string>

#include "front/onnx/onnx_scope.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

// Errors name the file: it cannot be read or is not an ONNX model, two of its values have the same
// name, or nodes or functions need themselves.
Result<OnnxModel> read_onnx(const std::string& file);

}  // namespace tfaot::toolkit::engine
