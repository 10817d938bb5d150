// SPDX-License-Identifier: Apache-2.0
// Evaluates modules that call our kernels: XLA's evaluator computes all else.
#pragma once

#include <string>
#include <vector>

#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal.h"

namespace tfaot::toolkit::testing {

// For a module whose parameters are float32 or float64, filled with different numbers: the result
// with the kernels of the lowest CPU level. Those of each other level that this machine has must
// give the same, but for rounding.
xla::Literal result_with_kernels(const xla::HloModule& module);

// The kernels that the entry computation calls and uses, in order: "resize_f32".
std::vector<std::string> called_kernels(const xla::HloModule& module);

// The largest difference, over the largest number. A NaN is equal to a NaN.
double relative_difference(const xla::Literal& a, const xla::Literal& b);

}  // namespace tfaot::toolkit::testing
