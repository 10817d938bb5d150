// SPDX-License-Identifier: Apache-2.0
// Lets products leave out the rows that a padded batch has too many. In a model that treats every
// row of the batch alone, as far as can be seen from the HLO, and in which all values keep their
// rows in order, products get the number of rows that count as one operand more, which is a
// parameter behind all others; what is left out of a result is whatever the memory held. Any other
// model stays as it is. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// REQUIRES: kernel calls are as add_kernel_call() makes them; parameters from `inputs` on are
// weights. Returns whether there is such a parameter now.
Result<bool> leave_out_padding(xla::HloModule& module, std::int64_t inputs);

}  // namespace tfaot::toolkit::engine
