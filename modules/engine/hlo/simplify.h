// SPDX-License-Identifier: Apache-2.0
// Brings a module into a form in which patterns for our kernels are easy to find: calls inlined,
// batch normalisation as products and sums, dead and duplicate code removed. Runs only passes that
// XLA would run itself, so results change no more than with XLA. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

Status simplify(xla::HloModule& module);

// Moves computations out of a loop if they give the same value at every turn.
Status hoist_invariants(xla::HloModule& module);

// Removes what nothing uses any more and what is computed twice.
Status remove_dead_code(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
