// SPDX-License-Identifier: Apache-2.0
// The functions of tfaot/kernels/abi.h for the other kernels (activate() of simd/kernel.h).
#include "simd/functions.h"

namespace {

// A function has one copy, for whole vectors and for the last one of a row.
template <typename Function>
__attribute__((noinline)) void apply(float* y, Int row, Int rows, Int columns,
                                     const ResultFunction& of) {
  const FunctionNumbers numbers(of);
  for (; rows > 0; --rows, y += row) {
    for (Int j = 0; j < columns; j += kLanes<float>) {
      const Int count = smaller(kLanes<float>, columns - j);
      store_some(y + j, Function()(load_some(y + j, count), numbers), count);
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
    &apply<LeakyOf>,
    &apply<EluOf>,
    &apply<HardSigmoidOf>,
    &apply<HardSwishOf>,
};
static_assert(sizeof kApply / sizeof kApply[0] == kFunctionHardSwish + 1);

}  // namespace

extern "C" void TFAOT_KERNEL(activation)(float* y, Int row, Int rows, Int columns,
                                         const ResultFunction* function) {
  if (function->kind == kFunctionNone) return;
  kApply[function->kind](y, row, rows, columns, *function);
}
