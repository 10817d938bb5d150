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

using Apply = void (*)(float* y, Int row, Int rows, Int columns, const ResultFunction& of);
constexpr Apply kApply[] = {
    // by Function
    nullptr,
    &apply<TanhOf>,
    &apply<SigmoidOf>,
    &apply<SwishOf>,
    &apply<GeluOf<kGeluErf>>,
    &apply<GeluOf<kGeluTanh>>,
    &apply<SoftplusOf>,
    &apply<LeakyOf, true>,
    &apply<EluOf>,
    &apply<HardSigmoidOf, true>,
    &apply<HardSwishOf, true>,
};
static_assert(sizeof kApply / sizeof kApply[0] == kFunctionHardSwish + 1);

}  // namespace

extern "C" void TFAOT_KERNEL(activation)(float* y, Int row, Int rows, Int columns,
                                         const ResultFunction* function) {
  if (function->kind == kFunctionNone) return;
  kApply[function->kind](y, row, rows, columns, *function);
}
