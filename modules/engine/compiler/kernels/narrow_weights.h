// SPDX-License-Identifier: Apache-2.0
// Products whose weights are stored in fewer bits than float32 (tfaot/kernels/products.h). What is
// done to the weights is HLO, which folding evaluates, so new weights are treated alike. Used by
// one thread.
#pragma once

#include "compiler/kernels/kernel_call.h"
#include "tfaot/kernels/abi.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit::engine {

// True if such weights [1, depth, columns] are stored so. Few are not: nothing would be saved.
bool stays_narrow(const xla::HloInstruction& matrix, WeightsType type);

// The call without its result's sizes and bias. REQUIRES: stays_narrow().
KernelCall narrow_product(const kernels::MatMulCall& call, xla::HloInstruction* lhs,
                          xla::HloInstruction* matrix, WeightsType type);

}  // namespace tfaot::toolkit::engine
