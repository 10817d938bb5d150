// SPDX-License-Identifier: Apache-2.0
// Sizes inside of a model that depend on the data, such as that of tf.boolean_mask, become their
// upper bounds, with the elements beyond the size left out of sums. So all that follows sees static
// shapes. Used by one thread.
#pragma once

#include "xla/client/xla_computation.h"

#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

// REQUIRES: the outputs are static.
Status make_sizes_static(xla::XlaComputation& computation);

}  // namespace tfaot::toolkit::engine
