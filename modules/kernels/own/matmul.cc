// SPDX-License-Identifier: Apache-2.0
// tfaot_matmul of abi.h.
#include "gemm.h"
#include "pack.h"

namespace {

using tfaot::kernels::MatMulCall;

// With more rows than this, reading distant rows of the right side costs more than packing them.
constexpr Int kRowsInPlace = 64;

void multiply_panels(Gemm& g, const Element* panels) {
  g.b = panels;
  g.b_step = kPanelColumns<Element>;
  g.b_panel = g.b_step * g.run;
  TFAOT_KERNEL(gemm)(&g);
}

// With a right side that is not packed. If its rows are contiguous, whole panels of it are read in
// place.
void multiply_matrix(Gemm g, const MatMulCall& call, const Element* rhs, Element* scratch) {
  constexpr Int kColumns = kPanelColumns<Element>;
  Int in_place = 0;
  if (call.rhs_column_stride == 1 && call.rows <= kRowsInPlace) {
    in_place = call.columns - call.columns % kColumns;
  }
  if (in_place > 0) {
    g.columns = in_place;
    g.b = rhs;
    g.b_step = call.rhs_depth_stride;
    g.b_panel = kColumns;
    TFAOT_KERNEL(gemm)(&g);
  }
  if (in_place == call.columns) return;
  for (Int j = in_place; j < call.columns; j += kColumns) {
    pack_panel(scratch + (j - in_place) * call.depth, rhs + j * call.rhs_column_stride, call.depth,
               smaller(kColumns, call.columns - j), call.rhs_depth_stride, call.rhs_column_stride);
  }
  g.columns = call.columns - in_place;
  g.c += in_place;
  if (g.bias != nullptr) g.bias += in_place;
  multiply_panels(g, scratch);
}

// REQUIRES: with live_rows, call.batch is 1.
Int live_rows(const MatMulCall& call, const void** in) {
  if (call.live_rows == 0) return call.rows;
  const bool bias = (call.epilogue & tfaot::kernels::kEpilogueBias) != 0;
  return call.live_rows * *static_cast<const Int*>(in[bias ? 4 : 3]);
}

void multiply(const MatMulCall& call, Element* c, const void** in, Element* scratch) {
  const auto* const lhs = static_cast<const Element*>(in[1]);
  const auto* const rhs = static_cast<const Element*>(in[2]);
  Gemm g = {};
  g.row_count[0] = g.row_count[1] = g.row_count[2] = 1;
  g.row_count[3] = live_rows(call, in);
  g.row_step[3] = call.lhs_row_stride;
  g.tap_count[0] = g.tap_count[1] = g.tap_count[2] = 1;
  g.run = call.depth;
  g.a_step = call.lhs_depth_stride;
  g.c_row = g.columns = call.columns;
  if ((call.epilogue & tfaot::kernels::kEpilogueBias) != 0) {
    g.bias = static_cast<const Element*>(in[3]);
  }
  g.rectifier = rectifier_of(call.epilogue);
  for (Int b = 0; b < call.batch; ++b) {
    g.a = lhs + b * call.lhs_batch_stride;
    g.c = c + b * call.rows * call.columns;
    if (call.rhs_packed != 0) {
      multiply_panels(g, rhs);
    } else {
      multiply_matrix(g, call, rhs + b * call.rhs_batch_stride, scratch);
    }
  }
}

}  // namespace

extern "C" void TFAOT_KERNEL(matmul)(void* out, const void** in) {
  auto* const* const results = static_cast<void* const*>(out);
  multiply(*static_cast<const MatMulCall*>(in[0]), static_cast<Element*>(results[0]), in,
           static_cast<Element*>(results[1]));
}
