// SPDX-License-Identifier: Apache-2.0
// elu in XLA's loops: exp(x) - 1 in place of what is right to all digits near 0, which takes twice
// the time. Beside 1 the difference is a rounding. Used by one thread.
#pragma once

#include "hlo/choices.h"
#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// To be called when kernels have taken the elus that are theirs. Other uses of the function stay,
// and all of them without fast_math.
Status shorten_elus(xla::HloModule& module, const Choices& choices = {});

}  // namespace tfaot::toolkit::engine
