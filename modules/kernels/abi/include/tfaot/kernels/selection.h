// SPDX-License-Identifier: Apache-2.0
// The calls of tfaot_top_k and tfaot_gather; abi.h says what calls are.
#pragma once

#include <cstdint>

#include "tfaot/kernels/panels.h"

namespace tfaot {
inline namespace v1 {
namespace kernels {

enum TopKOrder : std::int64_t {
  kTopKAscending = 0,  // -0 and +0 are equal; all NaNs are equal, and larger than all numbers
  kTopKDescending = 1,
  kTopKTotalOrder = 2,  // -NaN, ..., -0, +0, ..., +NaN instead, by the bits
};

// tfaot_top_k: the first `count` elements of each row, in order, and their places in the row; equal
// elements stay in the row's order. in[1]: x[rows, size]; `out` is a void*[3] of values[rows,
// count], places[rows, count] of 32-bit integers, and scratch: top_k_scratch_bytes().
struct TopKCall {
  std::int64_t rows, size, count;
  std::int64_t order;  // values of TopKOrder, or-ed
};

// Keys and places, twice each.
constexpr std::int64_t top_k_scratch_bytes(const TopKCall& call, std::int64_t element_bytes) {
  return 4 * call.size * element_bytes + kPanelBytes;
}

// tfaot_gather: copies rows: result[i] = x[place], place = places[i] or the nearest of 0 to x_rows
// -
// 1. in[1]: x[x_rows, row_elements]; in[2]: places[rows], integers with a sign of place_bytes, 4 or
// 8. No scratch: `out` is the result[rows, row_elements].
struct GatherCall {
  std::int64_t rows, x_rows, row_elements;
  std::int64_t place_bytes;
};

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
