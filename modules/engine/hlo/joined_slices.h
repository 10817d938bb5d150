// SPDX-License-Identifier: Apache-2.0
// Slices that cut a tensor into equal parts along one dimension, and are joined along another, as
// some models split heads of attention: tf.concat(tf.split(x, heads, 2), 0). XLA's simplifier makes
// the same of the transpose that others split them by, if the batch is 1. A product reads a
// transposed operand where it lies, but would need a copy of joined slices. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Puts transposes in the place of slices that only products use.
Status transpose_joined_slices(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
