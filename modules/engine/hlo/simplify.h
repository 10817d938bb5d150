// SPDX-License-Identifier: Apache-2.0
// Brings a module into the form in which the patterns of our kernels are easy to see: calls
// inlined, batch normalisation as products and sums, dead and doubled code gone. Only passes that
// XLA would run itself; results change by no more than theirs. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

Status simplify(xla::HloModule& module);

// Moves what a loop computes anew from the same values at every turn before the loop.
Status hoist_invariants(xla::HloModule& module);

// Removes what nothing uses any more and what is computed twice.
Status remove_dead_code(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
