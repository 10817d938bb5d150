// SPDX-License-Identifier: Apache-2.0
// Large kernels share their work among tasks of the runtime, if it has some. They get the address
// of the tasks (abi.h) as their last operand, which is a parameter after all others. Kernels in
// loops and branches, and those too small to be worth the threads, stay as they are.
#pragma once

#include "compiler/hlo/hlo.h"

namespace tfaot::toolkit::engine {

// The scratch memory that each lane of the tasks needs.
std::int64_t lane_bytes(const xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
