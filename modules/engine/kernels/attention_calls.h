// SPDX-License-Identifier: Apache-2.0
// Replaces products of queries and keys, their softmax, and its product with values by one call
// (tfaot/kernels/attention.h), where the scores are many: they are then in memory for some rows at
// a time. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// REQUIRES: there is no dead code.
Status replace_attention(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
