// SPDX-License-Identifier: Apache-2.0
// Turns forests of decision trees (hlo/forest_call.h) into calls of our kernel. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// REQUIRES: calls are not inlined yet.
Status replace_forests(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
