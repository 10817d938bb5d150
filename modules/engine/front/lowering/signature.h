// SPDX-License-Identifier: Apache-2.0
// A lowered model gets its inputs and outputs, and sizes that do not depend on the data. The end of
// every format's lowering. Used by one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "compiler/hlo/lowering.h"

namespace tfaot::toolkit::engine {

// The model with its inputs and outputs, as the signature names them and the computation shapes
// them. Errors: more dimensions than base/limits.h allows, a size that depends on the data, rows
// that are not the batch's. `causes`: the nodes to blame for a size that depends on the data.
Result<LoweredModel> with_signature(LoweredModel lowered, const std::vector<ModelTensor>& inputs,
                                    const std::vector<ModelTensor>& outputs,
                                    std::int64_t batch_size,
                                    const std::function<SizeCauses()>& causes);

}  // namespace tfaot::toolkit::engine
