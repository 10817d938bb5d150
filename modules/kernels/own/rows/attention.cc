// SPDX-License-Identifier: Apache-2.0
// tfaot_attention of abi.h: a block of rows at a time, whose scores stay in the second-level
// cache, or queries as lanes. The results are divided by the sum of a row's weights, not the
// weights, which are more. So a sum of values near the largest float may overflow before the
// division.
#include "products/gemm.h"
#include "rows/softmax_rows.h"
#include "simd/transpose.h"

namespace {

// Queries as the lanes of vectors. Each key and each number of a value is read in place, and spread
// over the lanes. So neither is packed, and the largest score and the sum of the weights are found
// for all queries at once. Queries and results are transposed.

// Queries that are transposed together.
constexpr Int kBlockQueries = TFAOT_VECTOR_BYTES == 64 ? kAttentionLanes : kPanelColumns<float>;
// Vectors of queries at a time, and keys or columns with them, so that sums stay in registers.
constexpr int kQueryVectors = TFAOT_VECTOR_BYTES == 16 && TFAOT_VECTOR_REGISTERS == 32 ? 4 : 2;
constexpr int kKeysTogether = TFAOT_VECTOR_BYTES == 64 ? 8 : TFAOT_VECTOR_BYTES == 32 ? 6 : 4;
constexpr int kColumnsTogether = TFAOT_VECTOR_BYTES == 64 ? 8 : 4;

// The keys and values of one b, and a block of queries: queries[depth, kBlockQueries].
struct QueryLanes {
  const float* queries;
  Int depth;
  const float* keys;
  Int key_count, key_row, key_column;
  const float* values;
  Int columns, value_row;
  float scale;
  float* scores;  // [key_count, kBlockQueries]
  Int result_row;
};

// Calls use(Number, first) for all of `count`, a few at a time. The last ones may have been used
// before. REQUIRES: count >= kQuad
template <int kTogether, typename Use>
TFAOT_INLINE void for_few(Int count, const Use& use) {
  Int first = 0;
  if constexpr (kTogether > kQuad) {
    for (; first + kTogether <= count; first += kTogether) use(Number<kTogether>(), first);
  }
  for (; first < count; first += kQuad) use(Number<kQuad>(), smaller(first, count - kQuad));
}

// Scores all keys with NV vectors of queries from `first` on, and finds each query's largest score.
template <int NV>
TFAOT_INLINE void score_keys(const QueryLanes& m, Int first, Floats (&peaks)[NV]) {
  for_few<kKeysTogether>(m.key_count, [&](auto few, Int key) {
    constexpr int kKeys = few;
    Floats sums[kKeys][NV] = {};
    const float* keys[kKeys];
    TFAOT_EACH (i, kKeys) keys[i] = m.keys + (key + i) * m.key_row;
    const float* from = m.queries + first;
    Int k = 0;
    for (Int l = 0; l < m.depth; ++l, k += m.key_column, from += kBlockQueries) {
      Floats queries[NV];
      TFAOT_EACH (v, NV) queries[v] = load(from + v * kLanes<float>);
      TFAOT_EACH (i, kKeys * NV) {
        Floats& sum = sums[i / NV][i % NV];
        sum = multiply_add(queries[i % NV], keys[i / NV][k], sum);
      }
    }
    float* to = m.scores + key * kBlockQueries + first;
    TFAOT_FOR (int i = 0; i < kKeys; ++i, to += kBlockQueries) {
      TFAOT_EACH (v, NV) {
        store(to + v * kLanes<float>, sums[i][v]);
        peaks[v] = LargestOfLanes::join(sums[i][v], peaks[v]);
      }
    }
  });
}

// Computes the results of NV vectors of queries from `first` on, of which `rows` count.
template <int NV>
TFAOT_ONE_COPY void attend_lanes(const QueryLanes& m, Int first, float* result, Int rows) {
  constexpr Int kWidth = kLanes<float>;
  Floats peaks[NV];
  TFAOT_EACH (v, NV) peaks[v] = Floats{} - __builtin_inff();
  score_keys(m, first, peaks);

  Floats factors[NV] = {};
  float* const begin = m.scores + first;
  float* const end = begin + m.key_count * kBlockQueries;
  for (float* at = begin; at != end; at += kBlockQueries) {
    TFAOT_EACH (v, NV) {
      const Floats e = exp_of_negative((load(at + v * kWidth) - peaks[v]) * m.scale);
      store(at + v * kWidth, e);
      factors[v] += e;
    }
  }
  TFAOT_EACH (v, NV) factors[v] = 1.0F / factors[v];

  for_few<kColumnsTogether>(m.columns, [&](auto few, Int column) {
    constexpr int kColumns = few;
    Floats sums[kColumns][NV] = {};
    const float* value = m.values + column;
    for (const float* at = begin; at != end; at += kBlockQueries, value += m.value_row) {
      Floats weights[NV];
      TFAOT_EACH (v, NV) weights[v] = load(at + v * kWidth);
      TFAOT_EACH (i, kColumns * NV) {
        Floats& sum = sums[i / NV][i % NV];
        sum = multiply_add(weights[i % NV], value[i / NV], sum);
      }
    }
    TFAOT_EACH (i, kColumns / kQuad * NV) {
      const int j = i / NV * kQuad, v = i % NV;
      Floats quad[kQuad];
      TFAOT_EACH (q, kQuad) quad[q] = sums[j + q][v] * factors[v];
      store_quads(result + v * kWidth * m.result_row + column + j, m.result_row, quad,
                  rows - v * kWidth);
    }
  });
}

// Computes the results of a block's first `rows` queries.
TFAOT_INLINE void attend_block_of_lanes(const QueryLanes& m, float* result, Int rows) {
  constexpr Int kWidth = kLanes<float>;
  Int first = 0;
  for (; rows - first > kWidth; first += kQueryVectors * kWidth) {
    attend_lanes<kQueryVectors>(m, first, result + first * m.result_row, rows - first);
  }
  if (first < rows) attend_lanes<1>(m, first, result + first * m.result_row, rows - first);
}

// The parts of the scratch memory.
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

// Computes the results of some rows, from the first of them on.
TFAOT_ONE_COPY void attend(const AttentionCall& call, const float* queries, Int rows,
                           const Scratch& s, float* c) {
  const Int step = attention_row_step(call);
  Gemm g = plain_product(rows, call.queries.row_stride, call.depth);
  g.a = queries;
  g.a_step = call.queries.column_stride;
  g.b = s.keys;
  g.c = s.scores;
  g.c_row = step;
  set_columns(g, call.keys);
  TFAOT_KERNEL(gemm)(&g);

  const SoftmaxRows weights = with_scale_above_0(
      {s.scores, s.scores, rows, call.keys, step, static_cast<float>(call.scale)});
  for (Int r = 0; r < rows; ++r) {
    float* const row = s.scores + r * step;
    s.sums[r] = row_exponentials(row, row, call.keys, weights.scale);
  }

  Gemm h = plain_product(rows, step, call.keys);
  h.a = s.scores;
  h.b = s.values;
  h.c = c;
  h.c_row = call.result.row_stride;
  set_columns(h, call.columns);
  TFAOT_KERNEL(gemm)(&h);
  for (Int r = 0; r < rows; ++r) scale_row(c + r * h.c_row, call.columns, 1.0F / s.sums[r]);
}

// True if queries become lanes: for few and short keys, whose numbers stay in a near cache while
// blocks read them again, and whose softmax takes a large part of the time.
bool are_lanes(const AttentionCall& call) {
  constexpr Int kMostNumbers = 64 << 10;
  constexpr Int kMostDepth = 64;
  static_assert(kQuad == kAttentionQuad, "for_few() takes that many");
  return can_be_lanes(call) && larger(call.depth, call.columns) <= kMostDepth &&
         call.keys * (call.depth + call.columns) <= kMostNumbers;
}

// One copy of pack_panels() for three sides.
TFAOT_ONE_COPY void pack_side(float* to, Int to_row, Int to_panel, const float* b, Int depth,
                              Int columns, Int depth_stride, Int column_stride) {
  pack_panels(to, to_row, to_panel, b, depth, columns, depth_stride, column_stride);
}

// The matrices of all b.
struct Heads {
  const AttentionCall& call;
  const float* queries;
  const float* keys;
  const float* values;
  float* result;
  Int rows_at_once;

  Int at(Int b, const MatrixPlaces& places) const {
    return b / call.inner_batch * places.batch_stride + b % call.inner_batch * places.inner_stride;
  }
  void pack(Int b, const Scratch& scratch) const {
    constexpr Int kColumns = kPanelColumns<float>;
    pack_side(scratch.keys, kColumns, kColumns * call.depth, keys + at(b, call.key_rows),
              call.depth, call.keys, call.key_rows.column_stride, call.key_rows.row_stride);
    pack_side(scratch.values, kColumns, kColumns * call.keys, values + at(b, call.values),
              call.keys, call.columns, call.values.row_stride, call.values.column_stride);
  }
  Int blocks() const { return ceil_div(call.rows, rows_at_once); }
  void attend_block(Int b, Int block, const Scratch& scratch) const {
    const Int first = block * rows_at_once;
    attend(call, queries + at(b, call.queries) + first * call.queries.row_stride,
           smaller(rows_at_once, call.rows - first), scratch,
           result + at(b, call.result) + first * call.result.row_stride);
  }

  Int blocks_of_lanes() const { return ceil_div(call.rows, kBlockQueries); }
  // Computes blocks of all b. `memory`: scratch.
  void attend_in_lanes(Int block, Int end, float* memory) const {
    for (; block < end; ++block) {
      const Int b = block / blocks_of_lanes();
      const Int first = block % blocks_of_lanes() * kBlockQueries;
      const Int rows = smaller(kBlockQueries, call.rows - first);
      pack_side(memory, kBlockQueries, kPanelColumns<float>,
                queries + at(b, call.queries) + first * call.queries.row_stride, call.depth, rows,
                call.queries.column_stride, call.queries.row_stride);
      attend_block_of_lanes(
          {memory, call.depth, keys + at(b, call.key_rows), call.keys, call.key_rows.row_stride,
           call.key_rows.column_stride, values + at(b, call.values), call.columns,
           call.values.row_stride, static_cast<float>(call.scale),
           memory + call.depth * kBlockQueries, call.result.row_stride},
          result + at(b, call.result) + first * call.result.row_stride, rows);
    }
  }
};

}  // namespace

extern "C" void TFAOT_KERNEL(attention)(void* out, const void** in) {
  const auto& call = call_of<AttentionCall>(in);
  const Scratch scratch = divide(call, result(out, 1));
  const Heads heads = {call,           operand(in, 1), operand(in, 2),
                       operand(in, 3), result(out, 0), attention_rows_at_once(call)};
  tfaot::Tasks* const tasks = call.shared != 0 ? tasks_at(in[4]) : nullptr;
  if (are_lanes(call)) {
    const Int blocks = call.batch * heads.blocks_of_lanes();
    const Int pieces = tasks == nullptr ? 1 : smaller(blocks, kLanePieces * tasks->lanes);
    return share_or_run(tasks, pieces, scratch.keys, [&](Int piece, float* memory) {
      heads.attend_in_lanes(blocks * piece / pieces, blocks * (piece + 1) / pieces, memory);
    });
  }
  if (tasks == nullptr || are_enough(call.batch, *tasks)) {
    return share_or_run(tasks, call.batch, scratch.keys, [&](Int b, float* memory) {
      const Scratch own = divide(call, memory);
      heads.pack(b, own);
      for (Int i = 0; i < heads.blocks(); ++i) heads.attend_block(b, i, own);
    });
  }
  for (Int b = 0; b < call.batch; ++b) {
    heads.pack(b, scratch);
    share(*tasks, heads.blocks(), [&](Int block, Int lane) {
      Scratch own = divide(call, scratch_of(*tasks, lane));
      own.keys = scratch.keys;
      own.values = scratch.values;
      heads.attend_block(b, block, own);
    });
  }
}
