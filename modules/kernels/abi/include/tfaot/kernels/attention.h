// SPDX-License-Identifier: Apache-2.0
// The call of tfaot_attention; abi.h says what calls are.
#pragma once

#include <cstdint>

#include "tfaot/kernels/matmul.h"

namespace tfaot {
inline namespace v1 {
namespace kernels {

// tfaot_attention, float32 alone: tfaot_matmul of `scores`, tfaot_softmax of its rows with `scale`,
// then tfaot_matmul of `result` with that as the left side, a block of rows at a time: the scores
// of all rows are never in memory. Both calls have kEpiloguePlaced alone, no packed right side and
// the same batch and rows; result.depth is scores.columns. The strides of the scores in memory
// (scores.result_..., result.lhs_...) are not used. in[1] and in[2]: both sides of `scores`
// (queries and keys), in[3]: the right side of `result` (values). Scratch:
// attention_scratch_bytes().
struct AttentionCall {
  MatMulCall scores, result;
  double scale;
};

// From one row of a block's scores to the next. The line more keeps rows out of the same places of
// the first-level cache.
constexpr std::int64_t attention_row(const AttentionCall& call) {
  const std::int64_t columns = panel_columns(sizeof(float));
  return panel_count(call.scores.columns, sizeof(float)) * columns + columns;
}

// Rows of a block, whose scores stay in the second-level cache. A multiple of the rows of every
// kernel tile.
constexpr std::int64_t attention_block_rows(const AttentionCall& call) {
  constexpr std::int64_t kBlockBytes = 256 << 10, kUnit = 24, kMost = 96;
  const std::int64_t row_bytes = attention_row(call) * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t fitting = kBlockBytes / row_bytes / kUnit * kUnit;
  const std::int64_t rows = fitting < kUnit ? kUnit : fitting > kMost ? kMost : fitting;
  return rows < call.scores.rows ? rows : call.scores.rows;
}

// The packed right sides of both products, and the scores of a block.
constexpr std::int64_t attention_scratch_bytes(const AttentionCall& call) {
  const std::int64_t scores = attention_block_rows(call) * attention_row(call);
  return (panel_count(call.scores.columns, sizeof(float)) * call.scores.depth +
          panel_count(call.result.columns, sizeof(float)) * call.result.depth) *
             kPanelBytes +
         scores * static_cast<std::int64_t>(sizeof(float));
}

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
