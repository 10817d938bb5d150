// SPDX-License-Identifier: Apache-2.0
// Rewrites a module to use our kernels: each product, convolution and pooling becomes a kernel
// call; XLA compiles everything else. Used by one thread.
#pragma once

#include "hlo/hlo.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit::engine {

// Parameters of the entry computation from `first_weight` on are weights; `products` is how those
// of products are stored.
Status rewrite_to_kernel_calls(xla::HloModule& module, std::int64_t first_weight,
                               WeightsType products = WeightsType::kFloat32);

}  // namespace tfaot::toolkit::engine
