// SPDX-License-Identifier: Apache-2.0
// XLA may give a reshape that only adds dimensions of one element another layout than a kernel
// asks for, and copies the tensor. A kernel reads its operands as rows of numbers, whatever their
// shape, so it can have what is reshaped. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

Status pass_before_reshapes(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
