// SPDX-License-Identifier: Apache-2.0
// Functions of each result of a kernel, after all that Epilogue (panels.h) names.
#pragma once

#include <cstdint>

namespace tfaot {
inline namespace v1 {
namespace kernels {

enum Function : std::int64_t {
  kFunctionNone = 0,
  kFunctionTanh = 1,
  kFunctionSigmoid = 2,
  kFunctionSwish = 3,        // x * sigmoid(x)
  kFunctionGelu = 4,         // as GeluCall, by erf
  kFunctionGeluTanh = 5,     // and by tanh
  kFunctionSoftplus = 6,     // log(1 + exp(x))
  kFunctionLeaky = 7,        // above * x for x > 0, else below * x
  kFunctionElu = 8,          // above * x for x > 0, else below * (exp(x) - 1)
  kFunctionHardSigmoid = 9,  // above * x + below, but at least 0 and at most 1
  kFunctionHardSwish = 10,   // x times that
};

struct ResultFunction {
  std::int64_t kind;  // of Function
  double above, below;
};

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
