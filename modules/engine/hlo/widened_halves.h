// SPDX-License-Identifier: Apache-2.0
// Numbers of 16 bits (float16, bfloat16) become float32 inside a module, so that all that follows
// sees types that have kernels. Operations then do not round; a cast of the model to 16 bits does,
// one from them to whole numbers, and so do the outputs. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Parameters and results of the entry computation keep their types.
Status widen_halves(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
