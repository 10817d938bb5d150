// SPDX-License-Identifier: Apache-2.0
// The functions that products and layers of a dense chain end with (tfaot/kernels/functions.h), as
// HLO writes them. Used by one thread.
#pragma once

#include <optional>

#include "hlo/hlo.h"
#include "tfaot/kernels/functions.h"

namespace tfaot::toolkit::engine {

struct LayerFunction {
  kernels::Function function = kernels::kFunctionNone;
  double above = 1, below = 1;
  xla::HloInstruction* result = nullptr;  // of the whole function
};

// The largest function of x that nothing else uses a part of; nothing if x is used as it is.
std::optional<LayerFunction> function_of(xla::HloInstruction& x);

// The only user of a value, if it does not leave the computation here; else null.
xla::HloInstruction* sole_user(const xla::HloInstruction& value);
// A value after the reshapes that nothing else uses.
xla::HloInstruction* last_view(xla::HloInstruction* value);

}  // namespace tfaot::toolkit::engine
