// SPDX-License-Identifier: Apache-2.0
// tfaot_attention of abi.h. The right sides of a matrix of the batch are packed once, for all
// blocks of its rows.
#include "gemm.h"
#include "pack.h"
#include "softmax_rows.h"

namespace {

using tfaot::kernels::AttentionCall;
using tfaot::kernels::MatMulCall;

// Where a matrix of the batch begins.
TFAOT_INLINE Int place_of(Int matrix, Int inner_batch, Int outer_stride, Int inner_stride) {
  return matrix / inner_batch * outer_stride + matrix % inner_batch * inner_stride;
}

const Element* packed(Element* to, const Element* rhs, const MatMulCall& call, Int matrix) {
  rhs += place_of(matrix, call.inner_batch, call.rhs_batch_stride, call.rhs_inner_stride);
  pack_matrix(to, rhs, call.depth, call.columns, call.rhs_depth_stride, call.rhs_column_stride);
  return to;
}

void attend(const AttentionCall& call, Element* c, const void** in, Element* scratch) {
  const MatMulCall& first = call.scores;
  const MatMulCall& second = call.result;
  const Int step = tfaot::kernels::attention_row(call);
  const Int most = tfaot::kernels::attention_block_rows(call);
  Element* const keys = scratch;
  Element* const values =
      keys + ceil_div(first.columns, kPanelColumns<Element>) * kPanelColumns<Element> * first.depth;
  Element* const scores = values + ceil_div(second.columns, kPanelColumns<Element>) *
                                       kPanelColumns<Element> * second.depth;
  for (Int matrix = 0; matrix < first.batch; ++matrix) {
    Gemm score = plain_product(most, first.lhs_row_stride, first.depth);
    score.a = static_cast<const Element*>(in[1]) +
              place_of(matrix, first.inner_batch, first.lhs_batch_stride, first.lhs_inner_stride);
    score.a_step = first.lhs_depth_stride;
    score.b = packed(keys, static_cast<const Element*>(in[2]), first, matrix);
    score.c = scores;
    score.c_row = step;
    score.columns = first.columns;
    Gemm mean = plain_product(most, step, second.depth);
    mean.a = scores;
    mean.b = packed(values, static_cast<const Element*>(in[3]), second, matrix);
    mean.c = c + place_of(matrix, second.inner_batch, second.result_batch_stride,
                          second.result_inner_stride);
    mean.c_row = second.result_row_stride;
    mean.columns = second.columns;
    for (Int row = 0; row < first.rows; row += most) {
      const Int rows = smaller(most, first.rows - row);
      score.row_count[3] = mean.row_count[3] = rows;
      TFAOT_KERNEL(gemm)(&score);
      softmax_rows(scores, scores, rows, first.columns, step, static_cast<float>(call.scale));
      TFAOT_KERNEL(gemm)(&mean);
      score.a += rows * first.lhs_row_stride;
      mean.c += rows * second.result_row_stride;
    }
  }
}

}  // namespace

extern "C" void TFAOT_KERNEL(attention)(void* out, const void** in) {
  auto* const* const results = static_cast<void* const*>(out);
  attend(*static_cast<const AttentionCall*>(in[0]), static_cast<Element*>(results[0]), in,
         static_cast<Element*>(results[1]));
}
