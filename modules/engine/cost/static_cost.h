// SPDX-License-Identifier: Apache-2.0
// What a call of compiled code takes, estimated from its HLO, for packages that nobody measured: a
// roofline over the calls of our kernels (multiply-adds beside the reading of weights), the loops
// that XLA makes by elements and kind of operation, and what waits for caches that are too small.
// It tells sizes of one model at one CPU level from each other, no more: machine_model.h has the
// constants. Pure function.
#pragma once

#include <cstdint>
#include <string>

#include "xla/hlo/ir/hlo_module.h"

namespace tfaot::toolkit::engine {

struct CodeSize {
  std::int64_t inputs = 0;         // parameters behind these are weights
  std::int64_t scratch_bytes = 0;  // all temporaries of the code
  std::string kernels = "x86_64";  // of the level (JobLevel::kernels)
};

struct StaticCost {
  std::uint64_t picoseconds = 1;    // of a call, at least 1
  std::uint32_t live_permille = 0;  // of that, products that leave rows of padding out
};

// Kernel calls of `module` are as add_kernel_call() makes them, without a
// level.
StaticCost static_cost(const xla::HloModule& module, const CodeSize& code);

}  // namespace tfaot::toolkit::engine
