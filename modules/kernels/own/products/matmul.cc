// SPDX-License-Identifier: Apache-2.0
// tfaot_matmul of abi.h.
#include "products/gemm.h"
#include "simd/transpose.h"

namespace {

// With more rows than this, reading distant rows of the right side costs more than packing them.
constexpr Int kRowsInPlace = 64;

void multiply_panels(Gemm& g, const Element* panels) {
  g.b = panels;
  g.b_step = kPanelColumns<Element>;
  g.b_panel = g.b_step * g.run;
  TFAOT_KERNEL(gemm)(&g);
}

// Multiplies with a right side that is not packed. If its rows are contiguous, whole panels of it
// are read in place.
void multiply_matrix(Gemm& g, const MatMulCall& call, const Element* rhs, Element* scratch) {
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
  pack_matrix(scratch, rhs + in_place * call.rhs_column_stride, call.depth, call.columns - in_place,
              call.rhs_depth_stride, call.rhs_column_stride);
  if (in_place == 0) return multiply_panels(g, scratch);
  Gemm rest = g;
  rest.columns = call.columns - in_place;
  skip_columns(rest, in_place);
  multiply_panels(rest, scratch);
}

// The tensors of a call.
struct Operands {
  const MatMulCall& call;
  const Element* lhs;
  const Element* rhs;
  Element* c;
  const Element* addends;  // null: none
};

// g: the fields that all matrices share.
TFAOT_INLINE void multiply_one(const Operands& of, Int b, Gemm& g, Element* scratch) {
  const MatMulCall& call = of.call;
  const Element* rhs = of.rhs;
  Int at = 0;
  g.a = of.lhs;
  if ((call.epilogue & kEpiloguePlaced) != 0) {
    const Int inner = call.inner_batch == 1 ? 0 : b % call.inner_batch;
    b = call.inner_batch == 1 ? b : b / call.inner_batch;
    g.a += inner * call.lhs_inner_stride;
    rhs += inner * call.rhs_inner_stride;
    at = inner * call.result_inner_stride + b * call.result_batch_stride;
  } else {
    at = b * call.rows * call.columns;
  }
  g.a += b * call.lhs_batch_stride;
  g.c = of.c + at;
  if (of.addends != nullptr) g.addends = of.addends + at;
  if (call.rhs_packed != 0) return multiply_panels(g, rhs);
  multiply_matrix(g, call, rhs + b * call.rhs_batch_stride, scratch);
}

void multiply(const MatMulCall& call, Element* c, const void** in, Element* scratch) {
  const EpilogueOperands more = epilogue_operands(call.epilogue, call.rows, call.live_rows, in + 3);
  const Operands operands = {call, operand(in, 1), operand(in, 2), c, more.addends};
  // With live rows, call.batch is 1.
  Gemm g = plain_product(more.rows, call.lhs_row_stride, call.depth);
  set_epilogue(g, call.epilogue, more);
  g.a_step = call.lhs_depth_stride;
  g.columns = call.columns;
  g.narrow = is_narrow((call.epilogue & kEpilogueSwapped) != 0 ? call.rows : call.columns);
  const bool placed = (call.epilogue & kEpiloguePlaced) != 0;
  g.c_row = placed ? call.result_row_stride : call.columns;
  if (more.tasks != nullptr && are_enough(call.batch, *more.tasks)) {
    g.tasks = nullptr;
    return share(*more.tasks, call.batch, [&](Int b, Int lane) {
      Gemm own = g;
      multiply_one(operands, b, own, scratch_of(*more.tasks, lane));
    });
  }
  for (Int b = 0; b < call.batch; ++b) multiply_one(operands, b, g, scratch);
}

}  // namespace

extern "C" void TFAOT_KERNEL(matmul)(void* out, const void** in) {
  const auto& call = call_of<MatMulCall>(in);
  multiply(call, result(out, 0), in, result(out, 1));
}
