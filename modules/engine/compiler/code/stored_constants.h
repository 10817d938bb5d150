// SPDX-License-Identifier: Apache-2.0
// Large constants of the code, such as places that the compiler computed ahead, are stored once, as
// weights are, and not in the object of each batch size and CPU level. Used by one thread.
#pragma once

#include "compiler/code/optimize.h"

namespace tfaot::toolkit::engine {

// The model with its entry computation's constants of 4 kB or more as weights after the others.
Result<OptimizedModel> with_stored_constants(OptimizedModel model, WeightStore& store,
                                             Traces traces = Traces::kRemoved);

}  // namespace tfaot::toolkit::engine
