// SPDX-License-Identifier: Apache-2.0
// The call of tfaot_attention; abi.h says what calls are.
#pragma once

#include <cstdint>

#include "tfaot/kernels/panels.h"

namespace tfaot {
inline namespace v1 {
namespace kernels {

// The place of the matrix of b = outer * inner_batch + inner, and of its element (row, column), in
// elements.
struct MatrixPlaces {
  std::int64_t batch_stride;  // of outer
  std::int64_t inner_stride, row_stride, column_stride;
};

// tfaot_attention, float32 alone: result[b] = softmax(scale * queries[b] * keys[b]^T) * values[b],
// with the softmax over each row as tfaot_softmax has it, b < batch. in[1]: queries, [rows,
// depth] of each b; in[2]: keys, [keys, depth]; in[3]: values, [keys, columns]. Strides may be
// zero; the columns of the result lie side by side. Scratch: attention_scratch_bytes().
// The scores of some rows are in memory at a time, never those of a whole matrix.
struct AttentionCall {
  std::int64_t batch, inner_batch;
  std::int64_t rows, keys, depth, columns;
  double scale;
  MatrixPlaces queries, key_rows, values, result;
  std::int64_t shared = 0;  // kEpilogueShared, or 0
};

// Rows whose scores are in memory at a time: they stay in the second-level cache with their panels.
// A multiple of the rows of the kernels' tiles where scores are not very many.
constexpr std::int64_t attention_rows_at_once(const AttentionCall& call) {
  constexpr std::int64_t kCacheBytes = 384 << 10, kUnit = 24, kFewest = 24, kMost = 96;
  const std::int64_t row_bytes = call.keys * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t fitting = kCacheBytes / row_bytes / kUnit * kUnit;
  const std::int64_t most = fitting < kFewest ? kFewest : fitting > kMost ? kMost : fitting;
  return call.rows < most ? call.rows : most;
}

// The step from one row of scores to the next. One extra cache line avoids set conflicts in L1 when
// row sizes are powers of two.
constexpr std::int64_t attention_row_step(const AttentionCall& call) {
  constexpr std::int64_t kColumns = panel_columns(sizeof(float));
  return (panel_count(call.keys, sizeof(float)) + 1) * kColumns;
}

// Most queries that are the lanes of vectors together.
constexpr std::int64_t kAttentionLanes = 2 * panel_columns(sizeof(float));
// True if queries can be lanes: then at least kAttentionQuad keys or columns are taken at a time,
// and the columns of values in place.
constexpr std::int64_t kAttentionQuad = 4;
constexpr bool can_be_lanes(const AttentionCall& call) {
  return call.scale > 0 && call.values.column_stride == 1 && call.keys >= kAttentionQuad &&
         call.columns >= kAttentionQuad;
}

// Keys and values of one b, packed, then scores, and the sum of each row of them. Or queries that
// are lanes, and their scores.
constexpr std::int64_t attention_scratch_bytes(const AttentionCall& call) {
  constexpr std::int64_t kBytes = sizeof(float);
  const std::int64_t rows = attention_rows_at_once(call);
  const std::int64_t packed = panel_count(call.keys, kBytes) * call.depth * kPanelBytes +
                              panel_count(call.columns, kBytes) * call.keys * kPanelBytes +
                              rows * (attention_row_step(call) + 1) * kBytes;
  const std::int64_t lanes = kAttentionLanes * (call.depth + call.keys) * kBytes;
  return (packed < lanes ? lanes : packed) + kPanelBytes;
}

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
