// SPDX-License-Identifier: Apache-2.0
// Lets large kernels share their work among tasks of the runtime, if it has some. They get the
// address of the tasks (abi.h) as their last operand, which is a parameter after all others.
// Kernels in loops and branches, and those too small to be worth the threads, stay as they are.
// Used by one thread.
#pragma once

#include "hlo/hlo.h"

namespace tfaot::toolkit::engine {

// REQUIRES: kernel calls are in the form of add_kernel_call(), with their live rows; parameters
// from `inputs` on are weights. Returns whether the parameter was added.
Result<bool> share_kernels(xla::HloModule& module, std::int64_t inputs);

// The scratch memory that each lane of the tasks needs.
std::int64_t lane_bytes(const xla::HloModule& module);

}  // namespace tfaot::toolkit::engine
