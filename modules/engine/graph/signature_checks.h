// SPDX-License-Identifier: Apache-2.0
// What a signature must be for its model to be compiled: dtypes, known shapes, the batch in front.
// Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/model_graph.h"

namespace tfaot::toolkit::engine {

// "(?, 3)": unknown dimensions are question marks.
std::string shape_text(const std::vector<std::int64_t>& shape);

// Inputs and outputs, as far as the signature alone tells; output shapes are known only after
// lowering. Of fixed shapes no dimension is the batch.
Status check_signature(const ModelGraph& model, bool fixed_shapes);

// An input whose first dimension is fixed allows that one batch size.
Status check_batch(const GraphTensor& input, std::int64_t batch_size);

}  // namespace tfaot::toolkit::engine
