// SPDX-License-Identifier: Apache-2.0
// Means, as TensorFlow, JAX and PyTorch write them. Used by one thread.
#pragma once

#include "compiler/hlo/hlo.h"

namespace tfaot::toolkit::engine {

// The mean of `of` over the dimensions of a reduction that adds.
struct Mean {
  xla::HloInstruction* of = nullptr;   // null: there is none
  xla::HloInstruction* sum = nullptr;  // the reduction
};

// The mean that `value` is, perhaps in another shape.
Mean mean_of(xla::HloInstruction* value);

}  // namespace tfaot::toolkit::engine
