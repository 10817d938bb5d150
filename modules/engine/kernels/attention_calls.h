// SPDX-License-Identifier: Apache-2.0
// Replaces products of queries and keys, the softmax of their rows and the product with values, all
// calls of our kernels already, by one call (tfaot/kernels/attention.h) where the scores in between
// are large. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

Status fuse_attention(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
