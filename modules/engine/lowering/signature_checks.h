// SPDX-License-Identifier: Apache-2.0
// The conditions for compiling a signature: dtypes, known shapes, the batch as the first dimension.
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lowering/model_tensor.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

struct SignatureRules {
  bool fixed_shapes = false;        // no dimension is the batch
  bool shapes_from_config = false;  // the config may say the shape of an input
};

// Checks inputs and outputs as far as the signature shows them; output shapes are known only after
// lowering. `label` names the model in messages.
Status check_signature(const std::string& label, const std::vector<ModelTensor>& inputs,
                       const std::vector<ModelTensor>& outputs, const SignatureRules& rules);

// An input with a fixed first dimension allows only that batch size.
bool fixes_batch(const ModelTensor& input);
Status check_batch(const ModelTensor& input, std::int64_t batch_size);

}  // namespace tfaot::toolkit::engine
