// SPDX-License-Identifier: Apache-2.0
// Joins dense layers that follow each other to one call (tfaot/kernels/dense_chain.h), with the
// functions between them. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Parameters from `first_weight` on are weights.
Status replace_dense_chains(xla::HloModule& module, std::int64_t first_weight);

}  // namespace tfaot::toolkit::engine
