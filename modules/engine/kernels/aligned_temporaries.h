// SPDX-License-Identifier: Apache-2.0
// XLA puts a table of pointers for each kernel call with scratch before all temporaries, 8 bytes
// for each result and a multiple of 16 for each table. Unless all of them together are a multiple
// of a cache line, each vector of a temporary lies in two, and kernels that read more than they
// compute take up to 1.4 times as long. Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// Gives one of the calls more results, which nobody uses, so that its table fills the line. Other
// tables, as those of loops, are not known here.
Status align_temporaries(xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
