// SPDX-License-Identifier: Apache-2.0
// Lets products, convolutions and forests skip the padding rows of a batch. It applies to models
// that treat every row alone, as far as the HLO shows, and whose values all keep their rows in
// order. There, these kernels get the number of real rows as another operand, which is a parameter
// after all others; the skipped part of a result has arbitrary contents. Any other model stays
// unchanged. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// REQUIRES: kernel calls are in the form of add_kernel_call(); parameters from `inputs` on are
// weights. Returns whether the parameter was added.
Result<bool> leave_out_padding(xla::HloModule& module, std::int64_t inputs);

}  // namespace tfaot::toolkit::engine
