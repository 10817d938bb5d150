// SPDX-License-Identifier: Apache-2.0
// Evaluates modules that call our kernels: XLA's evaluator computes all else.
#pragma once

#include <string>
#include <vector>

#include "xla/hlo/ir/hlo_module.h"
#include "xla/literal.h"

namespace tfaot::toolkit::testing {

// The result with the kernels of the lowest CPU level. Those of each other level that this machine
// has must give the same, but for rounding. `numbers`: of the first parameters, "1 nan -2" for
// each; the others are filled with different numbers.
xla::Literal result_with_kernels(const xla::HloModule& module,
                                 const std::vector<std::string>& numbers = {});

// The numbers of a result, or of all parts of a tuple.
std::vector<double> numbers_of(const xla::Literal& result);

// The kernels that the entry computation calls and uses, in order: "resize_f32".
std::vector<std::string> called_kernels(const xla::HloModule& module);

// The largest difference, over the largest number; a NaN is equal to a NaN. Infinite for other
// shapes, and where one of two numbers is NaN or infinite.
double relative_difference(const xla::Literal& a, const xla::Literal& b);

}  // namespace tfaot::toolkit::testing
