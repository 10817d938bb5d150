// SPDX-License-Identifier: Apache-2.0
// Replaces sorts of numbers, alone or with their places, by calls of a kernel that makes only the
// first ones that are used: top k, argsort, sort. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Parameters of the entry computation from `first_weight` on are weights; what depends on nothing
// else is computed while compiling.
Status replace_sorts(xla::HloModule& module, std::int64_t first_weight);

}  // namespace tfaot::toolkit::engine
