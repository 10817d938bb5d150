// SPDX-License-Identifier: Apache-2.0
// Dimensions of inputs whose size a model leaves open, other than the batch. The config gives them
// a size by name: the model's own name, or "input:axis" if it has none. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "lowering/model_tensor.h"
#include "tfaot/base/result.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit::engine {

// The next dimension of the tensor. `size`: -1 if it is open; then it may have a name.
void add_dimension(ModelTensor& tensor, std::int64_t size, const std::string& name);

// Names the open dimensions that have no name, and gives those of the job their size. Error: the
// job names another one.
Status set_open_sizes(std::vector<ModelTensor>& inputs, const EngineJob& job);

// Error: dimensions without a size, other than the batch: all of them at once.
Status check_open_sizes(const std::vector<ModelTensor>& inputs, bool fixed_shapes);

}  // namespace tfaot::toolkit::engine
