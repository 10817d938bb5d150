// SPDX-License-Identifier: Apache-2.0
// XLA's simplifier writes some transposes as concatenations of slices: those of attention's heads,
// where there is one row in the batch. A product reads through a transpose, by its strides, so it
// becomes one again. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Changes what products alone use.
Status restore_sliced_transposes(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
