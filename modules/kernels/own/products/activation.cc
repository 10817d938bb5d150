// SPDX-License-Identifier: Apache-2.0
// The functions of tfaot/kernels/abi.h for the other kernels (activate() of simd/kernel.h).
#include "simd/functions.h"

namespace {

// A long function has one copy, for whole vectors and for the last one of a row. kTwice: a copy for
// each, which is faster, for short functions.
template <typename Function, bool kTwice = false>
__attribute__((noinline)) void apply(float* y, Int row, Int rows, Int columns,
                                     const ResultFunction& of) {
  const Function function = {};
  const FunctionNumbers numbers(of);
  for (; rows > 0; --rows, y += row) {
    const auto use = [&](Int j, Int count) {
      store_some(y + j, function(load_some(y + j, count), numbers), count);
    };
    if constexpr (kTwice) {
      along_row(columns, use);
    } else {
      for (Int j = 0; j < columns; j += kLanes<float>) use(j, smaller(kLanes<float>, columns - j));
    }
  }
}

}  // namespace

extern "C" void TFAOT_KERNEL(activation)(float* y, Int row, Int rows, Int columns,
                                         const ResultFunction* function) {
  switch (function->kind) {
    case kFunctionTanh:
      return apply<TanhOf>(y, row, rows, columns, *function);
    case kFunctionSigmoid:
      return apply<SigmoidOf>(y, row, rows, columns, *function);
    case kFunctionSwish:
      return apply<SwishOf>(y, row, rows, columns, *function);
    case kFunctionGelu:
      return apply<GeluOf<kGeluErf>>(y, row, rows, columns, *function);
    case kFunctionGeluTanh:
      return apply<GeluOf<kGeluTanh>>(y, row, rows, columns, *function);
    case kFunctionSoftplus:
      return apply<SoftplusOf>(y, row, rows, columns, *function);
    case kFunctionLeaky:
      return apply<LeakyOf, true>(y, row, rows, columns, *function);
    case kFunctionElu:
      return apply<EluOf>(y, row, rows, columns, *function);
    case kFunctionHardSigmoid:
      return apply<HardSigmoidOf, true>(y, row, rows, columns, *function);
    case kFunctionHardSwish:
      return apply<HardSwishOf, true>(y, row, rows, columns, *function);
    default:
      return;
  }
}
