// SPDX-License-Identifier: Apache-2.0
// The functions that layers of a dense chain end with (tfaot/kernels/dense_chain.h), as HLO writes
// them. Used by one thread.
#pragma once

#include <optional>

#include "hlo/hlo.h"
#include "tfaot/kernels/dense_chain.h"

namespace tfaot::toolkit::engine {

struct LayerFunction {
  kernels::DenseFunction function = kernels::kDenseNone;
  double above = 1, below = 1;
  xla::HloInstruction* result = nullptr;  // of the whole function
};

// The largest function of x that nothing else uses a part of; nothing if x is used as it is.
std::optional<LayerFunction> function_of(xla::HloInstruction& x);

}  // namespace tfaot::toolkit::engine
