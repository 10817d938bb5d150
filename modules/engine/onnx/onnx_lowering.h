// SPDX-License-Identifier: Apache-2.0
// An ONNX graph + batch size -> XLA computation (HLO). Initializers are the weights; those that are
// scalars, or that shapes depend on, are constants of the code.
#pragma once

#include <memory>
#include <vector>

#include "lowering/lowering.h"
#include "lowering/model_tensor.h"
#include "onnx/onnx_scope.h"

namespace tfaot::toolkit::engine {

// The references must outlive the object. Errors: types and shapes that cannot be compiled.
Result<std::unique_ptr<Lowering>> make_onnx_lowering(const OnnxModel& model,
                                                     const std::vector<ModelTensor>& inputs,
                                                     const std::vector<ModelTensor>& outputs,
                                                     const LoweringOptions& options);

}  // namespace tfaot::toolkit::engine
