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

// b = outer * batch + inner; the strides are those of inner, and of outer in the result.
struct InnerBatch {
  Int batch, lhs, rhs, result, outer_result;
};

TFAOT_INLINE InnerBatch inner_batch_of(const MatMulCall& call) {
  if ((call.epilogue & kEpiloguePlaced) == 0) {
    return {1, 0, 0, 0, call.rows * call.columns};
  }
  return {call.inner_batch, call.lhs_inner_stride, call.rhs_inner_stride, call.result_inner_stride,
          call.result_batch_stride};
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
TFAOT_INLINE void multiply_one(const Operands& of, const InnerBatch& inner_batch, Int outer,
                               Int inner, Gemm& g, Element* scratch) {
  const Int at = outer * inner_batch.outer_result + inner * inner_batch.result;
  g.a = of.lhs + outer * of.call.lhs_batch_stride + inner * inner_batch.lhs;
  g.c = of.c + at;
  if (of.addends != nullptr) g.addends = of.addends + at;
  if (of.call.rhs_packed != 0) return multiply_panels(g, of.rhs);
  multiply_matrix(g, of.call, of.rhs + outer * of.call.rhs_batch_stride + inner * inner_batch.rhs,
                  scratch);
}

__attribute__((noinline)) void share_matrices(const Operands& operands, const Gemm& g,
                                              tfaot::Tasks& tasks) {
  share(tasks, operands.call.batch, [&](Int piece, Int lane) {
    const InnerBatch inner_batch = inner_batch_of(operands.call);
    Gemm own = g;
    multiply_one(operands, inner_batch, piece / inner_batch.batch, piece % inner_batch.batch, own,
                 scratch_of(tasks, lane));
  });
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
    const Operands copy = operands;
    g.tasks = nullptr;
    return share_matrices(copy, g, *more.tasks);
  }
  const InnerBatch inner_batch = inner_batch_of(call);
  for (Int b = 0, outer = 0; b < call.batch; ++outer) {
    for (Int inner = 0; inner < inner_batch.batch; ++inner, ++b) {
      multiply_one(operands, inner_batch, outer, inner, g, scratch);
    }
  }
}

}  // namespace

extern "C" void TFAOT_KERNEL(matmul)(void* out, const void** in) {
  const auto& call = call_of<MatMulCall>(in);
  multiply(call, result(out, 0), in, result(out, 1));
}
