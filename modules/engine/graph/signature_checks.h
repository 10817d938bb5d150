// SPDX-License-Identifier: Apache-2.0
// The conditions for compiling a signature: dtypes, known shapes, the batch as the first dimension.
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/model_graph.h"

namespace tfaot::toolkit::engine {

// "(?, 3)": unknown dimensions are question marks.
std::string shape_text(const std::vector<std::int64_t>& shape);

// Checks inputs and outputs as far as the signature shows them; output shapes are known only after
// lowering. With fixed shapes no dimension is the batch.
Status check_signature(const ModelGraph& model, bool fixed_shapes);

// An input with a fixed first dimension allows only that batch size.
Status check_batch(const GraphTensor& input, std::int64_t batch_size);

}  // namespace tfaot::toolkit::engine
