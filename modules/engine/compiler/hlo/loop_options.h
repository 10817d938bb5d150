// SPDX-License-Identifier: Apache-2.0
// How XLA and LLVM make code of loops: the same for all code of a process.
#pragma once

#include "xla/xla.pb.h"

namespace tfaot::toolkit::engine {

// Every computation is compiled with these, even one that is only tried out: LLVM takes its own
// options from the first computation of a process alone.
void set_loop_options(xla::DebugOptions& debug);

}  // namespace tfaot::toolkit::engine
