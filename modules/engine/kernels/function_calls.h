// SPDX-License-Identifier: Apache-2.0
// Gives products and convolutions the function that follows them (tfaot/kernels/functions.h), so
// that it is made of results that are still in the caches. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

Status absorb_functions(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
