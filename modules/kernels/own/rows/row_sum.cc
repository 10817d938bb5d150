// SPDX-License-Identifier: Apache-2.0
// tfaot_row_sum of abi.h.
#include "simd/kernel.h"

namespace {

// Sums each row. of(place, count): vectors of the terms of all rows, zero beyond `count`.
template <typename Op, typename Of>
void sum_rows(const RowSumCall& call, const void* const* word, float* sums, const Of& of) {
  constexpr Int kUnit = 16;  // sums in one line of the caches
  share_rows(call.rows, kUnit, call.shared, word, [&](Int row, Int end) {
    for (Int first = row * call.columns; row < end; ++row, first += call.columns) {
      sums[row] =
          over_row<Op>(call.columns, [&](Int j, Int count) { return of(first + j, count); });
    }
  });
}

}  // namespace

extern "C" void TFAOT_KERNEL(row_sum)(void* out, const void** in) {
  const auto& call = call_of<RowSumCall>(in);
  const auto* const x = operand(in, 1);
  auto* const sums = static_cast<float*>(out);
  switch (call.form) {
    case kRowSumOfSquares:
      return sum_rows<SumOfSquares>(call, in + 2, sums,
                                    [x](Int j, Int count) { return load_some(x + j, count); });
    case kRowSumOfSquaredDifferences: {
      const auto* const y = operand(in, 2);
      return sum_rows<SumOfSquares>(call, in + 3, sums, [x, y](Int j, Int count) {
        return load_some(x + j, count) - load_some(y + j, count);
      });
    }
    default:
      return sum_rows<SumOfLanes>(call, in + 2, sums,
                                  [x](Int j, Int count) { return load_some(x + j, count); });
  }
}
