// SPDX-License-Identifier: Apache-2.0
// Brings a module into a form in which patterns for our kernels are easy to find: calls inlined,
// batch normalisation as products and sums, dead and duplicate code removed. Runs only passes that
// XLA would run itself, so results change no more than with XLA. Used by one thread.
#pragma once

#include "compiler/hlo/hlo.h"
#include "tfaot/base/result.h"
#include "xla/client/xla_computation.h"

namespace tfaot::toolkit::engine {

// Calls of computations become what they compute. kPlain: not composites (kernels/composites.h).
enum class Calls { kAll, kPlain };
Status inline_calls(xla::HloModule& module, Calls calls = Calls::kAll);

Status simplify(xla::HloModule& module);

// Moves computations out of a loop if they give the same value at every turn.
enum class Hoisted { kComputed, kAll };  // kAll: operations without operands too
Status hoist_invariants(xla::HloModule& module, Hoisted hoisted = Hoisted::kComputed);

// Removes what nothing uses any more and what is computed twice.
Status remove_dead_code(xla::HloModule& module);

// Sizes inside of a model that depend on the data, such as that of tf.boolean_mask, become their
// upper bounds, with the elements beyond the size left out of sums. So all that follows sees static
// shapes. REQUIRES: the outputs are static.
Status make_sizes_static(xla::XlaComputation& computation);

}  // namespace tfaot::toolkit::engine
