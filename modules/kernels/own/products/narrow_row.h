// SPDX-License-Identifier: Apache-2.0
// A row alone by narrow weights (tfaot/kernels/dense_chain.h): panels of so few columns would be
// zeros for the most part.
#pragma once

#include "products/row_panels.h"

namespace {

#if TFAOT_VECTOR_BYTES == 64

// A vector of weights holds several steps of the depth, WIDTH columns of each.
template <int WIDTH>
constexpr Int kNarrowSteps = kRowWidth / WIDTH;

// For each lane, which step it belongs to.
template <int WIDTH>
TFAOT_INLINE __m512i narrow_lanes() {
  constexpr int kShift = WIDTH == 4 ? 2 : 3;
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm512_maskz_srli_epi32(0xFFFF, lane, kShift);
}

template <int WIDTH, int NP>
TFAOT_INLINE Vec<float> narrow_sums(const RowInput<1, NP>& in, const RowProduct& p) {
  static_assert(WIDTH == 4 || WIDTH == 8, "half of a panel, or a quarter");
  constexpr int kSums = 4;
  const __m512i lanes = narrow_lanes<WIDTH>();
  const __m512i further = _mm512_set1_epi32(kNarrowSteps<WIDTH>);
  Vec<float> sums[kSums] = {};
  if (p.bias != nullptr) sums[0] = load_first(p.bias, p.columns);
  const float* b = p.b;
  const Int part = in.depth % kRowWidth;
  const Int whole = in.depth - part;
  Vec<float> x[1];
  TFAOT_NOT_UNROLLED
  for (Int k = 0; k < whole; k += kRowWidth, b += WIDTH * kRowWidth) {
    take_vectors(x, in, k);
    __m512i at = lanes;
    TFAOT_UNROLL
    for (int i = 0; i < WIDTH; ++i, at = _mm512_add_epi32(at, further)) {
      sums[i % kSums] += load(b + i * kRowWidth) * _mm512_maskz_permutexvar_ps(0xFFFF, at, x[0]);
    }
  }
  if (part != 0) {
    take_vectors(x, in, whole);
    // What follows the row would make NaN of the zeros that weights are padded with.
    x[0] = _mm512_maskz_mov_ps(static_cast<__mmask16>((1U << part) - 1), x[0]);
    __m512i at = lanes;
    TFAOT_NOT_UNROLLED
    for (Int k = 0; k < part; k += kNarrowSteps<WIDTH>, b += kRowWidth) {
      sums[1] += load(b) * _mm512_maskz_permutexvar_ps(0xFFFF, at, x[0]);
      at = _mm512_add_epi32(at, further);
    }
  }
  Vec<float> sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  sum += _mm512_maskz_shuffle_f32x4(0xFFFF, sum, sum, 0x4E);
  if constexpr (WIDTH == 4) sum += _mm512_maskz_shuffle_f32x4(0xFFFF, sum, sum, 0xB1);
  return sum;
}

// As multiply_by_panels().
template <int NP>
TFAOT_INLINE RowInput<1, NP> multiply_narrow(const RowInput<1, NP>& in, const RowProduct& p) {
  RowInput<1, NP> out = no_results_yet<1, NP>(p.c, p.columns);
  const Vec<float> sums = p.columns <= 4 ? narrow_sums<4>(in, p) : narrow_sums<8>(in, p);
  const PanelResult<1, 1> made = {{{rectified<float>(sums, p.rectifier)}}};
  store_few(p.c, made[0][0][0], p.columns);
  keep_results(out, 0, made);
  return out;
}

#else

// Adds the products to bias[WIDTH].
template <int WIDTH>
TFAOT_INLINE void add_narrow(float* sums, const float* x, Int depth, const float* b) {
  constexpr int kLanesOfSum = WIDTH < kLanes<float> ? WIDTH : kLanes<float>;
  constexpr int kVectors = WIDTH / kLanesOfSum;
  constexpr int kSteps = 4;
  using Some __attribute__((vector_size(kLanesOfSum * sizeof(float)))) = float;
  Some all[kSteps][kVectors] = {};
  __builtin_memcpy(all[0], sums, sizeof all[0]);
  const auto step = [&](Int k, int sum) __attribute__((always_inline)) {
    Some right[kVectors];
    __builtin_memcpy(right, b + k * WIDTH, sizeof right);
    TFAOT_UNROLL
    for (int v = 0; v < kVectors; ++v) all[sum][v] += right[v] * x[k];
  };
  Int k = 0;
  for (; k + kSteps <= depth; k += kSteps) {
    TFAOT_UNROLL
    for (int i = 0; i < kSteps; ++i) step(k + i, i);
  }
  TFAOT_NOT_UNROLLED
  for (; k < depth; ++k) step(k, 1);
  TFAOT_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    all[0][v] = (all[0][v] + all[1][v]) + (all[2][v] + all[3][v]);
  }
  __builtin_memcpy(sums, all[0], sizeof all[0]);
}

// As multiply_by_panels().
template <int NP>
TFAOT_INLINE RowInput<1, NP> multiply_narrow(const RowInput<1, NP>& in, const RowProduct& p) {
  alignas(tfaot::kernels::kPanelBytes) float sums[tfaot::kernels::kMostNarrowColumns] = {};
  if (p.bias != nullptr) copy_elements(sums, p.bias, p.columns);
  if (p.columns <= 4) {
    add_narrow<4>(sums, in.x, in.depth, p.b);
  } else {
    add_narrow<8>(sums, in.x, in.depth, p.b);
  }
  TFAOT_UNROLL
  for (Int at = 0; at < tfaot::kernels::kMostNarrowColumns; at += kLanes<float>) {
    store(sums + at, rectified<float>(load(sums + at), p.rectifier));
  }
  copy_elements(p.c, sums, p.columns);
  return no_results_yet<1, NP>(p.c, p.columns);
}

#endif

}  // namespace
