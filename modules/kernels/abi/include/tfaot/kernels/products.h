// SPDX-License-Identifier: Apache-2.0
// The calls of tfaot_matmul, tfaot_narrow_matmul (weights in fewer bits than float32) and
// tfaot_dense_chain; abi.h says what calls are.
#pragma once

#include <cstdint>

#include "tfaot/kernels/panels.h"

namespace tfaot {
inline namespace v1 {
namespace kernels {

// tfaot_matmul: result[b, i, j] = sum over l of lhs[b, i, l] * rhs[b, l, j], b < batch, i < rows, j
// < columns, l < depth. in[1]: lhs, in[2]: rhs; then, with kEpilogueBias, bias[columns], or
// with kEpilogueRowBias bias[rows], the same for all b, with kEpilogueSum the addends, and with
// kEpilogueFunction (float32 alone) a ResultFunction. Strides
// are in elements, may be zero, and give the positions of lhs[b, i, l] and rhs[b, l, j]. In a
// padded batch only some rows count: with live_rows, the last in[] points to their number (s64),
// and only the first live_rows times that many rows are computed. Scratch: matmul_scratch_bytes().
// With kEpiloguePlaced b counts on two levels, b = outer * inner_batch + inner: the batch strides
// are those of outer. Strides give the positions of result[b, i, 0], too; the columns lie side by
// side.
struct MatMulCall {
  std::int64_t batch, rows, columns, depth;
  std::int64_t lhs_batch_stride, lhs_row_stride, lhs_depth_stride;
  std::int64_t rhs_packed;  // 1: rhs is packed, one matrix for all b; its strides are not used
  std::int64_t rhs_batch_stride, rhs_depth_stride, rhs_column_stride;
  std::int64_t epilogue;   // values of Epilogue, or-ed
  std::int64_t live_rows;  // rows for each row of the model's batch; 0: all rows count
  // With kEpiloguePlaced alone; calls of 0.2.0 end here.
  std::int64_t inner_batch, lhs_inner_stride, rhs_inner_stride;
  std::int64_t result_batch_stride, result_inner_stride, result_row_stride;
};

// One packed matrix; never zero, because XLA has no empty buffers.
constexpr std::int64_t matmul_scratch_bytes(const MatMulCall& call, std::int64_t element_bytes) {
  if (call.rhs_packed != 0) return kPanelBytes;
  return panel_count(call.columns, element_bytes) * call.depth * kPanelBytes + kPanelBytes;
}

enum NarrowType : std::int64_t { kBfloat16 = 1, kFloat16 = 2, kInt8 = 3 };

// Consecutive elements of a column that lie together in a panel: a 32-bit word holds two bfloat16
// or four int8. So a word is widened by shifts alone.
constexpr std::int64_t narrow_group(std::int64_t type) {
  return type == kBfloat16 ? 2 : type == kInt8 ? 4 : 1;
}
constexpr std::int64_t narrow_bytes(std::int64_t type) { return type == kInt8 ? 1 : 2; }

// tfaot_narrow_matmul, float32 alone: tfaot_matmul with a packed right side [panels, groups, panel
// columns, group], the last group padded with zeros. in[3]: with kInt8, scale[columns], with which
// column j is multiplied; at some levels lhs is rounded to 16 bits then. After it, as there, the
// bias and the number of live rows. Scratch: narrow_scratch_bytes().
struct NarrowMatMulCall {
  MatMulCall product;  // first, as in a plain call; rhs_packed is 1
  std::int64_t rhs_type;
};

// Panels that are widened at a time for all rows; they stay in the second-level cache.
constexpr std::int64_t widened_panels(const MatMulCall& call) {
  constexpr std::int64_t kMostBytes = 1 << 18;
  const std::int64_t panels = panel_count(call.columns, sizeof(float));
  const std::int64_t fit = kMostBytes / (call.depth * kPanelBytes);
  return fit < 1 ? 1 : fit < panels ? fit : panels;
}
// Few rows are multiplied while their weights are widened.
constexpr bool is_widened_first(const MatMulCall& call) {
  constexpr std::int64_t kFewRows = 32;
  return call.batch * call.rows > kFewRows || call.lhs_depth_stride != 1;
}
// Rows that are rounded to whole numbers of 16 bits at a time, for weights of int8, and the memory
// of one of depth elements. Not all levels do that.
inline constexpr std::int64_t kRoundedRows = 64;
constexpr std::int64_t rounded_row_bytes(std::int64_t depth) {
  return (depth * 2 + kPanelBytes - 1) / kPanelBytes * kPanelBytes;
}
constexpr std::int64_t narrow_scratch_bytes(const NarrowMatMulCall& call) {
  const MatMulCall& c = call.product;
  std::int64_t bytes = is_widened_first(c) ? widened_panels(c) * c.depth * kPanelBytes : 0;
  if (call.rhs_type == kInt8) {
    const std::int64_t rows = c.rows < kRoundedRows ? c.rows : kRoundedRows;
    const std::int64_t rounded = rows * rounded_row_bytes(c.depth);
    if (rounded > bytes) bytes = rounded;
  }
  return bytes + kPanelBytes;  // never zero, because XLA has no empty buffers
}

// tfaot_dense_chain (float32): dense layers, each of the results of the one before. A layer
// computes function(x W + bias) from x[rows, depth]; the next layer's depth is its columns. in[1]:
// the first x, then for each layer its packed weights and, with kEpilogueBias, its bias[columns].
// Result: that of the last layer, [rows, columns]. The layers follow the struct. live_rows is as in
// MatMulCall. Scratch: dense_chain_scratch_bytes().
struct DenseChainCall {
  std::int64_t rows, depth, layers;
  std::int64_t widest;      // the most columns of a layer before the last
  std::int64_t live_rows;   // rows for each row of the model's batch; 0: all rows count
  std::int64_t weights_in;  // a WeightsPlace: how a row alone reads them fastest
};
// The cache in which all weights of the model stay between calls.
enum WeightsPlace : std::int64_t { kWeightsFurther, kWeightsInFirstCache, kWeightsInSecondCache };
struct DenseLayer {
  std::int64_t columns;
  std::int64_t epilogue;  // kEpilogueBias, and kEpilogueRelu or kEpilogueRelu6 without function
  ResultFunction function;
};

// Weights of a few columns in a call of one row are narrow, not in a panel: [depth, width], padded
// with zeros to whole lines of kPanelBytes. With a small depth that is not faster.
inline constexpr std::int64_t kMostNarrowColumns = 8;
constexpr bool has_narrow_weights(const DenseChainCall& call, std::int64_t depth,
                                  std::int64_t columns) {
  constexpr std::int64_t kLeastDepth = 32;
  return call.rows == 1 && columns <= kMostNarrowColumns && depth >= kLeastDepth;
}
constexpr std::int64_t narrow_width(std::int64_t columns) { return columns <= 4 ? 4 : 8; }

// Rows that go through all layers together: intermediate results stay in the first caches.
constexpr std::int64_t dense_chain_block_rows(const DenseChainCall& call) {
  constexpr std::int64_t kElements = 8192;
  constexpr std::int64_t kUnit = 24;  // a multiple of all levels' tiles
  const std::int64_t fit = kElements / call.widest / kUnit * kUnit;
  const std::int64_t rows = fit < kUnit ? kUnit : fit;
  return rows < call.rows ? rows : call.rows;
}
// The input and the output of a layer.
constexpr std::int64_t dense_chain_scratch_bytes(const DenseChainCall& call) {
  constexpr std::int64_t kElementBytes = 4;
  return 2 * dense_chain_block_rows(call) * call.widest * kElementBytes + kPanelBytes;
}

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
