// SPDX-License-Identifier: Apache-2.0
// tfaot_matmul of kernel_calls.h.
#include "gemm.h"
#include "pack.h"

namespace {

using tfaot::kernels::MatMulCall;

void multiply(const MatMulCall& call, Element* c, const void** in, Element* scratch) {
  const auto* const lhs = static_cast<const Element*>(in[1]);
  const auto* const rhs = static_cast<const Element*>(in[2]);
  constexpr Int kColumns = kPanelColumns<Element>;
  Gemm g = {};
  g.row_count[0] = g.row_count[1] = g.row_count[2] = 1;
  g.row_count[3] = call.rows;
  g.row_step[3] = call.lhs_row_stride;
  g.tap_count[0] = g.tap_count[1] = g.tap_count[2] = 1;
  g.run = call.depth;
  g.a_step = call.lhs_depth_stride;
  g.b_step = kColumns;
  g.b_panel = kColumns * call.depth;
  g.c_row = g.columns = call.columns;
  if ((call.epilogue & tfaot::kernels::kEpilogueBias) != 0) {
    g.bias = static_cast<const Element*>(in[3]);
  }
  g.relu = (call.epilogue & tfaot::kernels::kEpilogueRelu) != 0;
  for (Int b = 0; b < call.batch; ++b) {
    g.a = lhs + b * call.lhs_batch_stride;
    g.c = c + b * call.rows * call.columns;
    g.b = rhs;
    if (call.rhs_packed == 0) {
      const Element* const matrix = rhs + b * call.rhs_batch_stride;
      for (Int j = 0; j < call.columns; j += kColumns) {
        pack_panel(scratch + j * call.depth, matrix + j * call.rhs_column_stride, call.depth,
                   smaller(kColumns, call.columns - j), call.rhs_depth_stride,
                   call.rhs_column_stride);
      }
      g.b = scratch;
    }
    TFAOT_KERNEL(gemm)(&g);
  }
}

}  // namespace

extern "C" void TFAOT_KERNEL(matmul)(void* out, const void** in) {
  auto* const* const results = static_cast<void* const*>(out);
  multiply(*static_cast<const MatMulCall*>(in[0]), static_cast<Element*>(results[0]), in,
           static_cast<Element*>(results[1]));
}
