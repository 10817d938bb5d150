// SPDX-License-Identifier: Apache-2.0
// Rewrites a module to use our kernels: each product, convolution and pooling becomes a kernel
// call; XLA compiles everything else. Used by one thread.
#pragma once

#include "hlo/choices.h"
#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Parameters of the entry computation from `first_weight` on are weights.
Status rewrite_to_kernel_calls(xla::HloModule& module, std::int64_t first_weight,
                               const Choices& choices = {});

}  // namespace tfaot::toolkit::engine
