// SPDX-License-Identifier: Apache-2.0
// Which ONNX operators can be compiled, for `tfaot check --ops`, and of which versions. Pure.
#pragma once

#include <vector>

#include "onnx-ml.pb.h"
#include "tfaot/base/result.h"
#include "tfaot/records/model_check.h"

namespace tfaot::toolkit::engine {

// Fails if the model has a newer opset than is known, or a newer version of the format: what an
// operator means, and what a message holds, may have changed. Domains without an operator of ours
// may have any opset.
Status check_opsets(const onnx::ModelProto& model);

// Sorted by domain and name; without nodes.
std::vector<CheckedOperation> known_onnx_operators();

}  // namespace tfaot::toolkit::engine
