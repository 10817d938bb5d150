// SPDX-License-Identifier: Apache-2.0
// A row alone, or two rows with AVX-512, that panels are multiplied with, and their results.
#pragma once

#include "stream.h"

namespace {

constexpr Int kRowWidth = kPanelColumns<float>;
// Of MR rows, for each of them and each vector of a panel.
template <int MR>
constexpr int kRowSums = sums_per_element(static_cast<int>(kVectorsPerPanel) * MR);
template <int MR>
using RowSums = Vec<float>[kRowSums<MR>][MR][kVectorsPerPanel];
template <int MR>
using PanelResult = Vec<float>[MR][kVectorsPerPanel];

// Rows that are multiplied, one after the other in memory.
template <int MR>
struct RowInput {
  const float* x;
  Int depth;
#if TFAOT_VECTOR_BYTES == 64
  Int before;           // where the last vector of each row begins
  Vec<float> last[MR];  // these vectors: what has just been stored comes back late
#endif
};

template <int MR>
TFAOT_INLINE RowInput<MR> row_input(const float* x, Int depth) {
  RowInput<MR> in;
  in.x = x;
  in.depth = depth;
#if TFAOT_VECTOR_BYTES == 64
  in.before = (depth - 1) / kRowWidth * kRowWidth;
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) {
    in.last[r] = load_first(x + r * depth + in.before, depth - in.before);
  }
#endif
  return in;
}

// Of results, of which `made` begins at `before`.
template <int MR>
TFAOT_INLINE RowInput<MR> input_of_results(const float* x, Int depth, [[maybe_unused]] Int before,
                                           [[maybe_unused]] const PanelResult<MR>& made) {
  RowInput<MR> in;
  in.x = x;
  in.depth = depth;
#if TFAOT_VECTOR_BYTES == 64
  in.before = before;
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) in.last[r] = made[r][0];
#endif
  return in;
}

}  // namespace
