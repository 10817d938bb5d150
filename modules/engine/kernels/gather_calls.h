// SPDX-License-Identifier: Apache-2.0
// Replaces gathers of elements that lie together in memory by calls of a kernel that copies them:
// rows by their numbers, as in graphs of nearest neighbours and embeddings. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Parameters of the entry computation from `first_weight` on are weights; what depends on nothing
// else is gathered while compiling.
Status replace_gathers(xla::HloModule& module, std::int64_t first_weight);

}  // namespace tfaot::toolkit::engine
