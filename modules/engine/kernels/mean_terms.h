// SPDX-License-Identifier: Apache-2.0
// Sums of products in which a number times a factor and its mean times that factor cancel each
// other. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// x * k + (b - mean * k), in any order, as (x - mean) * k + b; null: `root` is something else.
xla::HloInstruction* by_difference(xla::HloInstruction& root);

}  // namespace tfaot::toolkit::engine
