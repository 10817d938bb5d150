// SPDX-License-Identifier: Apache-2.0
// Functions of results that a kernel has just stored, while they are in the caches. In registers,
// in each kind of tile, they would be much code and no faster: activation.cc has them once.
#pragma once

#include "simd/kernel.h"

namespace {

// Results, row by row, of which a function is made in their place.
struct Activated {
  Element* y;
  Int row, rows, columns;  // from one row to the next; how many; of each
  const ResultFunction* function;
};

}  // namespace

#if TFAOT_IS_F32

// Not in a struct: for a few results that would take as long as the function.
extern "C" __attribute__((visibility("hidden"))) void TFAOT_KERNEL(activation)(
    float* y, Int row, Int rows, Int columns, const ResultFunction* function);

namespace {
// No function: they stay what they are.
TFAOT_INLINE void activate(const Activated& of) {
  if (of.function == nullptr) return;
  const bool is_one = of.row == of.columns;  // as if it were one row
  TFAOT_KERNEL(activation)
  (of.y, of.row, is_one ? 1 : of.rows, is_one ? of.rows * of.columns : of.columns, of.function);
}
}  // namespace

#else

namespace {
TFAOT_INLINE void activate(const Activated& /*of*/) {}  // float64 has no functions
}  // namespace

#endif
