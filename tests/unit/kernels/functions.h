// SPDX-License-Identifier: Apache-2.0
// The functions of results (tfaot/kernels/abi.h) in double precision.
#pragma once

#include <algorithm>
#include <cmath>

#include "tests/unit/kernels/tensors.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::kernels_test {

using kernels::ResultFunction;

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

inline double function_of(const ResultFunction& of, double x) {
  const double line = of.above * x + of.below;
  switch (of.kind) {
    case kernels::kFunctionTanh:
      return std::tanh(x);
    case kernels::kFunctionSigmoid:
      return sigmoid(x);
    case kernels::kFunctionSwish:
      return x * sigmoid(x);
    case kernels::kFunctionGelu:
      return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
    case kernels::kFunctionGeluTanh:
      return x / (1 + std::exp(-2 * std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
    case kernels::kFunctionSoftplus:
      return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    case kernels::kFunctionLeaky:
      return x > 0 ? of.above * x : of.below * x;
    case kernels::kFunctionElu:
      return x > 0 ? of.above * x : of.below * std::expm1(x);
    case kernels::kFunctionHardSigmoid:
      return std::clamp(line, 0.0, 1.0);
    case kernels::kFunctionHardSwish:
      return x * std::clamp(line, 0.0, 1.0);
    default:
      return x;
  }
}

// How large an error of it may be, if `error` is that of x.
inline double error_of(const ResultFunction& of, double x, double error) {
  const double eps = std::numeric_limits<float>::epsilon();
  // No function is steeper than 1.2 but for its factors, and hard swish for those of a large x.
  double steep = 1.2 * std::max({1.0, std::abs(of.above), std::abs(of.below)});
  if (of.kind == kernels::kFunctionHardSwish) steep += std::abs(x * of.above);
  const double y = function_of(of, x);
  return steep * error + 4 * eps * (1 + std::abs(x) + std::abs(y));
}

// Half of them hard swish, which some tiles make themselves.
inline ResultFunction random_function(Random& random) {
  const Int kind = random.one_in(2)
                       ? Int{kernels::kFunctionHardSwish}
                       : random.between(kernels::kFunctionTanh, kernels::kFunctionHardSigmoid);
  return {kind, random.one_in(2) ? 1 : 1.05, random.one_in(2) ? 0.3 : -0.7};
}

// In place of a relu, for float32.
template <typename T>
Int with_function(Int epilogue) {
  if (sizeof(T) != sizeof(float)) return epilogue;
  return (epilogue & ~Int{kernels::kEpilogueRelu6}) | kernels::kEpilogueFunction;
}

}  // namespace tfaot::kernels_test
