// SPDX-License-Identifier: Apache-2.0
// Replaces concatenations by calls of the kernel that copies rows: XLA's loop asks for each element
// which operand it comes from. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Gathers of which nothing else is made, and slices, are copied to their place in the concatenation
// at once. Leaves concatenations alone whose operands XLA mostly computes in the same loop.
// Parameters of the entry computation from `first_weight` on are weights; what depends on nothing
// else is put together while compiling.
Status replace_concatenations(xla::HloModule& module, std::int64_t first_weight);

}  // namespace tfaot::toolkit::engine
