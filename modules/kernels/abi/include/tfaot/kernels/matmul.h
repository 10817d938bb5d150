// SPDX-License-Identifier: Apache-2.0
// The call of tfaot_matmul; abi.h says what calls are.
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

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
