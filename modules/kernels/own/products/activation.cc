// SPDX-License-Identifier: Apache-2.0
// The functions of tfaot/kernels/abi.h for the other kernels (activate() of simd/kernel.h).
#include "simd/functions.h"

namespace {

// A function has one copy, for whole vectors and for the last one of a row.
template <Function kKind>
__attribute__((noinline)) void apply(float* y, Int row, Int rows, Int columns,
                                     const ResultFunction& of) {
  const auto above = static_cast<float>(of.above), below = static_cast<float>(of.below);
  for (; rows > 0; --rows, y += row) {
    for (Int j = 0; j < columns; j += kLanes<float>) {
      const Int count = smaller(kLanes<float>, columns - j);
      store_some(y + j, function_of<kKind>(load_some(y + j, count), above, below), count);
    }
  }
}

template <int... kKind>
TFAOT_INLINE void apply_any(float* y, Int row, Int rows, Int columns, const ResultFunction& of,
                            std::integer_sequence<int, kKind...> /*kinds*/) {
  using Apply = void (*)(float* y, Int row, Int rows, Int columns, const ResultFunction& of);
  static constexpr Apply kApply[] = {&apply<static_cast<Function>(kKind + 1)>...};
  kApply[of.kind - 1](y, row, rows, columns, of);
}

}  // namespace

extern "C" void TFAOT_KERNEL(activation)(float* y, Int row, Int rows, Int columns,
                                         const ResultFunction* function) {
  if (function->kind == kFunctionNone) return;
  apply_any(y, row, rows, columns, *function,
            std::make_integer_sequence<int, kFunctionHardSwish>());
}
