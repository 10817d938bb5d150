// SPDX-License-Identifier: Apache-2.0
// The call of tfaot_narrow_matmul: weights in fewer bits than float32; abi.h says what calls are.
#pragma once

#include "tfaot/kernels/matmul.h"

namespace tfaot {
inline namespace v1 {
namespace kernels {

enum NarrowType : std::int64_t { kBfloat16 = 1, kFloat16 = 2, kInt8 = 3 };

// As many elements of a column, one after the other in depth, lie together in a panel: a 32-bit
// word holds two bfloat16 or four int8. So a word is widened by shifts alone.
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

// Panels that are widened at a time, to meet all rows; they stay in the second-level cache.
constexpr std::int64_t widened_panels(const MatMulCall& call) {
  constexpr std::int64_t kMostBytes = 1 << 18;
  const std::int64_t panels = panel_count(call.columns, sizeof(float));
  const std::int64_t fit = kMostBytes / (call.depth * kPanelBytes);
  return fit < 1 ? 1 : fit < panels ? fit : panels;
}
// Fewer rows are multiplied while their weights are widened.
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

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
