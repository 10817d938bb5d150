// SPDX-License-Identifier: Apache-2.0
// Sizes that a model names but leaves open, in formats that have such names. Pure functions.
#pragma once

#include <string>

#include "lowering/model_tensor.h"
#include "tfaot/base/result.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit::engine {

// The next dimension of the tensor. If its size is open (-1), the job may say it by the name.
void add_dimension(ModelTensor& tensor, std::int64_t size, const std::string& name,
                   const EngineJob& job);

// Error: a dimension with a name but no size, other than the batch.
Status check_dimensions(const ModelTensor& input, bool fixed_shapes);

}  // namespace tfaot::toolkit::engine
