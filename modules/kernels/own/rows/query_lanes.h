// SPDX-License-Identifier: Apache-2.0
// Attention with queries as the lanes of vectors. Each key and each number of a value is read where
// it lies, and spread over the lanes. So neither is packed, and the largest score and the sum of
// the weights are found for all queries at once. Queries and results are transposed.
#pragma once

#include "rows/softmax_rows.h"
#include "simd/transpose.h"
#include "tfaot/kernels/attention.h"

namespace {

// Queries that are transposed together.
constexpr Int kBlockQueries =
    TFAOT_VECTOR_BYTES == 64 ? tfaot::kernels::kAttentionLanes : kPanelColumns<float>;
// Vectors of them at a time, and keys or columns with them, whose sums stay in registers.
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

template <int kCountOf>
struct Count {
  static constexpr int kCount = kCountOf;
};

// use(Count, first) for all of `count`, a few at a time. The last ones may have been used before.
// REQUIRES: count >= kQuad
template <int kTogether, typename Use>
TFAOT_INLINE void for_few(Int count, const Use& use) {
  Int first = 0;
  if constexpr (kTogether > kQuad) {
    for (; first + kTogether <= count; first += kTogether) use(Count<kTogether>(), first);
  }
  for (; first < count; first += kQuad) use(Count<kQuad>(), smaller(first, count - kQuad));
}

// Scores of all keys with NV vectors of queries from `first` on, and the largest of each query.
template <int NV>
TFAOT_INLINE void score_keys(const QueryLanes& m, Int first, Floats (&peaks)[NV]) {
  for_few<kKeysTogether>(m.key_count, [&](auto few, Int key) {
    constexpr int kKeys = few.kCount;
    Floats sums[kKeys][NV] = {};
    const float* keys[kKeys];
    TFAOT_UNROLL
    for (int i = 0; i < kKeys; ++i) keys[i] = m.keys + (key + i) * m.key_row;
    const float* from = m.queries + first;
    Int k = 0;
    for (Int l = 0; l < m.depth; ++l, k += m.key_column, from += kBlockQueries) {
      Floats queries[NV];
      TFAOT_UNROLL
      for (int v = 0; v < NV; ++v) queries[v] = load(from + v * kLanes<float>);
      TFAOT_UNROLL
      for (int i = 0; i < kKeys * NV; ++i) {
        sums[i / NV][i % NV] += queries[i % NV] * keys[i / NV][k];
      }
    }
    float* to = m.scores + key * kBlockQueries + first;
    TFAOT_UNROLL
    for (int i = 0; i < kKeys; ++i, to += kBlockQueries) {
      TFAOT_UNROLL
      for (int v = 0; v < NV; ++v) {
        store(to + v * kLanes<float>, sums[i][v]);
        peaks[v] = LargestOfLanes::join(sums[i][v], peaks[v]);
      }
    }
  });
}

// The results of NV vectors of queries from `first` on, of which `rows` count.
template <int NV>
TFAOT_ONE_COPY void attend_lanes(const QueryLanes& m, Int first, float* result, Int rows) {
  constexpr Int kWidth = kLanes<float>;
  Floats peaks[NV];
  TFAOT_UNROLL
  for (int v = 0; v < NV; ++v) peaks[v] = Floats{} - __builtin_inff();
  score_keys(m, first, peaks);

  Floats factors[NV] = {};
  float* const begin = m.scores + first;
  float* const end = begin + m.key_count * kBlockQueries;
  for (float* at = begin; at != end; at += kBlockQueries) {
    TFAOT_UNROLL
    for (int v = 0; v < NV; ++v) {
      const Floats e = exp_of_negative((load(at + v * kWidth) - peaks[v]) * m.scale);
      store(at + v * kWidth, e);
      factors[v] += e;
    }
  }
  TFAOT_UNROLL
  for (int v = 0; v < NV; ++v) factors[v] = 1.0F / factors[v];

  for_few<kColumnsTogether>(m.columns, [&](auto few, Int column) {
    constexpr int kColumns = few.kCount;
    Floats sums[kColumns][NV] = {};
    const float* value = m.values + column;
    for (const float* at = begin; at != end; at += kBlockQueries, value += m.value_row) {
      Floats weights[NV];
      TFAOT_UNROLL
      for (int v = 0; v < NV; ++v) weights[v] = load(at + v * kWidth);
      TFAOT_UNROLL
      for (int i = 0; i < kColumns * NV; ++i) {
        sums[i / NV][i % NV] += weights[i % NV] * value[i / NV];
      }
    }
    TFAOT_UNROLL
    for (int i = 0; i < kColumns / kQuad * NV; ++i) {
      const int j = i / NV * kQuad, v = i % NV;
      Floats quad[kQuad];
      TFAOT_UNROLL
      for (int q = 0; q < kQuad; ++q) quad[q] = sums[j + q][v] * factors[v];
      store_quads(result + v * kWidth * m.result_row + column + j, m.result_row, quad,
                  rows - v * kWidth);
    }
  });
}

// The results of a block's first `rows` queries.
TFAOT_INLINE void attend_block_of_lanes(const QueryLanes& m, float* result, Int rows) {
  constexpr Int kWidth = kLanes<float>;
  Int first = 0;
  for (; rows - first > kWidth; first += kQueryVectors * kWidth) {
    attend_lanes<kQueryVectors>(m, first, result + first * m.result_row, rows - first);
  }
  if (first < rows) attend_lanes<1>(m, first, result + first * m.result_row, rows - first);
}

}  // namespace
