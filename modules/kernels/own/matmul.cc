// SPDX-License-Identifier: Apache-2.0
// tfaot_matmul of abi.h.
#include "plain_product.h"

namespace {

using tfaot::kernels::MatMulCall;

// With more rows than this, reading distant rows of the right side costs more than packing them.
constexpr Int kRowsInPlace = 64;

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
  g.columns = call.columns - in_place;
  pack_panels(scratch, {rhs + in_place * call.rhs_column_stride, call.depth, g.columns,
                        call.rhs_depth_stride, call.rhs_column_stride});
  g.c += in_place;
  if (g.bias != nullptr) g.bias += in_place;
  if (g.addends != nullptr) g.addends += in_place;
  multiply_panels(g, scratch);
}

void multiply(const MatMulCall& call, Element* c, const void** in, Element* scratch) {
  const auto* const lhs = static_cast<const Element*>(in[1]);
  const auto* const rhs = static_cast<const Element*>(in[2]);
  Gemm g = plain_product(call.rows, call.depth, call.columns);
  g.row_step[3] = call.lhs_row_stride;
  g.a_step = call.lhs_depth_stride;
  const void** more = in + 3;
  if ((call.epilogue & tfaot::kernels::kEpilogueBias) != 0) {
    g.bias = static_cast<const Element*>(*more++);
  }
  const Element* addends = nullptr;
  if ((call.epilogue & tfaot::kernels::kEpilogueSum) != 0) {
    addends = static_cast<const Element*>(*more++);
  }
  // Then call.batch is 1.
  if (call.live_rows != 0) g.row_count[3] = call.live_rows * *static_cast<const Int*>(*more);
  g.rectifier = rectifier_of(call.epilogue);
  const bool placed = (call.epilogue & tfaot::kernels::kEpiloguePlaced) != 0;
  g.c_row = placed ? call.result_row_stride : call.columns;
  const Int inner_batch = placed ? call.inner_batch : 1;
  const Int lhs_inner = placed ? call.lhs_inner_stride : 0;
  const Int rhs_inner = placed ? call.rhs_inner_stride : 0;
  const Int result_inner = placed ? call.result_inner_stride : 0;
  const Int batch_stride = placed ? call.result_batch_stride : call.rows * call.columns;
  for (Int b = 0, outer = 0; b < call.batch; ++outer) {
    for (Int inner = 0; inner < inner_batch; ++inner, ++b) {
      const Int at = outer * batch_stride + inner * result_inner;
      g.a = lhs + outer * call.lhs_batch_stride + inner * lhs_inner;
      g.c = c + at;
      if (addends != nullptr) g.addends = addends + at;
      if (call.rhs_packed != 0) {
        multiply_panels(g, rhs);
      } else {
        multiply_matrix(g, call, rhs + outer * call.rhs_batch_stride + inner * rhs_inner, scratch);
      }
    }
  }
}

}  // namespace

extern "C" void TFAOT_KERNEL(matmul)(void* out, const void** in) {
  auto* const* const results = static_cast<void* const*>(out);
  multiply(*static_cast<const MatMulCall*>(in[0]), static_cast<Element*>(results[0]), in,
           static_cast<Element*>(results[1]));
}
