// SPDX-License-Identifier: Apache-2.0
// The calls of tfaot_top_k, tfaot_gather and tfaot_add_rows; abi.h says what calls are.
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

// True if as many rows of float32 as a vector has lanes are searched together: that is faster for a
// few first elements of rows that are not very long.
constexpr std::int64_t kMostFirstTogether = 16;
constexpr bool are_rows_together(const TopKCall& call, std::int64_t lanes) {
  constexpr std::int64_t kFewestLanes = 8, kFewestElements = 4, kMostElements = 4096;
  return lanes >= kFewestLanes && call.rows >= lanes && call.count <= kMostFirstTogether &&
         2 * call.count <= call.size && call.size >= kFewestElements && call.size <= kMostElements;
}

// Keys and places, twice each.
constexpr std::int64_t top_k_scratch_bytes(const TopKCall& call, std::int64_t element_bytes) {
  return 4 * call.size * element_bytes + kPanelBytes;
}

enum PlaceType : std::int64_t {
  kPlacesInOrder = 0,  // there is no operand with places: row i takes row i
  kPlacesInt32 = 1,
  kPlacesInt64 = 2,
  kPlacesFloat32 = 3,  // rounded towards zero; a NaN is 0
  kPlacesFloat64 = 4,
  kPlacesRepeated = 5,  // no operand either: each row place_step times, and then each place_at of
                        // them together `places` times. Of tfaot_add_rows alone
};

// tfaot_gather: result[rows, row], each row of which consists of parts, one after the other. No
// scratch: `out` is the result. The struct is followed by its parts.
struct GatherCall {
  std::int64_t rows, row, parts;
};

// `elements` of each row. Row i takes those from x_at + place * x_step on of the operand in[x].
// place is element place_at + i * place_step of in[places], or the nearest of 0 to x_rows - 1.
struct GatherPart {
  std::int64_t x, x_at, x_step, x_rows;
  std::int64_t place_type;
  std::int64_t places, place_at, place_step;
  std::int64_t elements;
};

constexpr std::int64_t kMostAddedRows = 4;

// tfaot_add_rows: result[rows, row] = the sum of 2 to kMostAddedRows parts, each of `row` elements;
// with `relu` its larger one of 0. No scratch: `out` is the result. The struct is followed by its
// parts.
struct AddRowsCall {
  std::int64_t rows, row, parts;
  std::int64_t relu;  // 0 or 1
};

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
