// SPDX-License-Identifier: Apache-2.0
// Rewrites a module to our kernels: products, convolutions and pooling become kernel calls, one
// each; everything else stays with XLA. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Parameters of the entry computation from `first_weight` on are weights.
Status rewrite_to_kernel_calls(xla::HloModule& module, std::int64_t first_weight);

}  // namespace tfaot::toolkit::engine
