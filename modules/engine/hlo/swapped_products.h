// SPDX-License-Identifier: Apache-2.0
// A product of a transposed tensor with a weight, as mixers have it along their tokens:
//
//   y[b, c, u] = sum over t of x[b, t, c] * w[t, u]
//
// is the product of the transposed weight with the tensor as it lies, [b, u, c], and a transpose
// after it. There the transpose may meet the one that puts tokens back. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// The transpose of the swapped product, in place of `dot`; null if its left side is no transpose
// that makes the product's depth the last dimension, or the columns would be too few. REQUIRES: the
// right side is a weight.
xla::HloInstruction* swapped_product(xla::HloInstruction& dot);

}  // namespace tfaot::toolkit::engine
