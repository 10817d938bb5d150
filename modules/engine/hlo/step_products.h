// SPDX-License-Identifier: Apache-2.0
// Products in loops over the steps of a sequence: what a step multiplies with a matrix that is the
// same in all steps, and that depends on nothing but the step's part of a sequence, is one product
// of the whole sequence before the loop. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

Status hoist_step_products(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
