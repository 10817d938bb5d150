// SPDX-License-Identifier: Apache-2.0
// tfaot_attention of attention.h: a block of rows at a time, whose scores stay in the second-level
// cache. The results are divided by the sum of a row's weights, not the weights, which are more. So
// a sum of values near the largest float may overflow before the division.
#include "tfaot/kernels/attention.h"

#include "gemm.h"
#include "pack.h"
#include "softmax_rows.h"

namespace {

using tfaot::kernels::attention_row_step;
using tfaot::kernels::attention_rows_at_once;
using tfaot::kernels::AttentionCall;
using tfaot::kernels::MatrixPlaces;

// What the scratch memory holds.
struct Scratch {
  float* keys;    // packed
  float* values;  // packed
  float* scores;
  float* sums;  // of each row of scores
};

Scratch divide(const AttentionCall& call, float* memory) {
  constexpr Int kColumns = kPanelColumns<float>;
  Scratch s = {};
  s.keys = memory;
  s.values = s.keys + ceil_div(call.keys, kColumns) * kColumns * call.depth;
  s.scores = s.values + ceil_div(call.columns, kColumns) * kColumns * call.keys;
  s.sums = s.scores + attention_rows_at_once(call) * attention_row_step(call);
  return s;
}

// The results of some rows, from the first of them on.
void attend(const AttentionCall& call, const float* queries, Int rows, const Scratch& s, float* c) {
  const Int step = attention_row_step(call);
  Gemm g = plain_product(rows, call.queries.row_stride, call.depth);
  g.a = queries;
  g.a_step = call.queries.column_stride;
  g.b = s.keys;
  g.c = s.scores;
  g.c_row = step;
  g.columns = call.keys;
  TFAOT_KERNEL(gemm)(&g);

  const auto scale = static_cast<float>(call.scale);
  const bool is_whole = softmax_in_registers({s.scores, s.scores, rows, call.keys, step, scale});
  for (Int r = 0; !is_whole && r < rows; ++r) {
    float* const row = s.scores + r * step;
    s.sums[r] = row_exponentials(row, row, call.keys, scale);
  }

  Gemm h = plain_product(rows, step, call.keys);
  h.a = s.scores;
  h.b = s.values;
  h.c = c;
  h.c_row = call.result.row_stride;
  h.columns = call.columns;
  TFAOT_KERNEL(gemm)(&h);
  if (is_whole) return;
  for (Int r = 0; r < rows; ++r) scale_row(c + r * h.c_row, call.columns, 1.0F / s.sums[r]);
}

}  // namespace

extern "C" void TFAOT_KERNEL(attention)(void* out, const void** in) {
  auto* const* const results = static_cast<void* const*>(out);
  const auto& call = *static_cast<const AttentionCall*>(in[0]);
  const Scratch scratch = divide(call, static_cast<float*>(results[1]));
  const Int most = attention_rows_at_once(call);
  for (Int b = 0; b < call.batch; ++b) {
    const Int outer = b / call.inner_batch;
    const Int inner = b % call.inner_batch;
    const auto matrix = [&](const MatrixPlaces& places) {
      return outer * places.batch_stride + inner * places.inner_stride;
    };
    pack_matrix(scratch.keys, static_cast<const float*>(in[2]) + matrix(call.key_rows), call.depth,
                call.keys, call.key_rows.column_stride, call.key_rows.row_stride);
    pack_matrix(scratch.values, static_cast<const float*>(in[3]) + matrix(call.values), call.keys,
                call.columns, call.values.row_stride, call.values.column_stride);
    const float* queries = static_cast<const float*>(in[1]) + matrix(call.queries);
    float* c = static_cast<float*>(results[0]) + matrix(call.result);
    for (Int first = 0; first < call.rows; first += most) {
      attend(call, queries + first * call.queries.row_stride, smaller(most, call.rows - first),
             scratch, c + first * call.result.row_stride);
    }
  }
}
