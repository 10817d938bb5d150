// SPDX-License-Identifier: Apache-2.0
// Resizing as TensorFlow lowers it: a window of [batch, rows, columns, channels] is gathered for
// each pixel of the result, and each meets weights of its own. Used by one thread.
#pragma once

#include "hlo/fixed_values.h"
#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// The same by a kernel; null if the product is something else.
Result<xla::HloInstruction*> resized_windows(xla::HloInstruction& dot, FixedValues& fixed);

}  // namespace tfaot::toolkit::engine
