// SPDX-License-Identifier: Apache-2.0
// The steps of a row alone by a panel.
#pragma once

#include "stream.h"

namespace {

constexpr Int kRowWidth = kPanelColumns<float>;
constexpr int kRowSums = sums_per_element(kVectorsPerPanel);
using RowSums = Vec<float>[kRowSums][1][kVectorsPerPanel];
using PanelResult = Vec<float>[kVectorsPerPanel];

// A row that is multiplied.
struct RowInput {
  const float* x;
  Int depth;
#if TFAOT_VECTOR_BYTES == 64
  Int before;       // where the last vector of x begins
  Vec<float> last;  // that vector: what has just been stored comes back late
#endif
};

TFAOT_INLINE RowInput row_input(const float* x, Int depth) {
#if TFAOT_VECTOR_BYTES == 64
  const Int before = (depth - 1) / kRowWidth * kRowWidth;
  return {x, depth, before, load_first(x + before, depth - before)};
#else
  return {x, depth};
#endif
}

// Of results, of which `made` begins at `before`.
TFAOT_INLINE RowInput input_of_results(const float* x, Int depth, [[maybe_unused]] Int before,
                                       [[maybe_unused]] const PanelResult& made) {
#if TFAOT_VECTOR_BYTES == 64
  return {x, depth, before, made[0]};
#else
  return {x, depth};
#endif
}

#if TFAOT_VECTOR_BYTES == 64

// Weights are read exactly in memory order: the processor then foresees what comes next. The
// compiler would change the order. Asking for many lines at once would take as long as it saves.
template <Int kAhead>
TFAOT_INLINE void add_step(Vec<float>& sum, Vec<float> left, const float* b) {
  using Anywhere __attribute__((vector_size(64), aligned(4), may_alias)) = float;
  if constexpr (kAhead > 0) fetch_ahead<1, kAhead>(b);
  asm volatile("vfmadd231ps %2, %1, %0"
               : "+v"(sum)
               : "v"(left), "m"(*reinterpret_cast<const Anywhere*>(b)));
}

// Four steps of the depth, of a quarter of x.
template <int QUARTER, Int kAhead>
TFAOT_INLINE void add_quarter(RowSums& sums, Vec<float> x, const float* b) {
  const Vec<float> fours = _mm512_maskz_shuffle_f32x4(0xFFFF, x, x, QUARTER * 0x55);
  constexpr int kFirst = QUARTER * kSpread % kRowSums;
  add_step<kAhead>(sums[kFirst][0][0], spread<0>(fours), b);
  add_step<kAhead>(sums[kFirst + 1][0][0], spread<1>(fours), b + kRowWidth);
  add_step<kAhead>(sums[kFirst + 2][0][0], spread<2>(fours), b + 2 * kRowWidth);
  add_step<kAhead>(sums[kFirst + 3][0][0], spread<3>(fours), b + 3 * kRowWidth);
}

// The first `count` numbers of x, which are fewer than a vector has.
template <Int kAhead>
TFAOT_INLINE void add_part(RowSums& sums, Vec<float> x, const float* b, Int count) {
  TFAOT_NOT_UNROLLED
  for (; count >= kSpread; count -= kSpread, b += kSpread * kRowWidth) {
    add_quarter<0, kAhead>(sums, x, b);
    x = _mm512_maskz_shuffle_f32x4(0xFFFF, x, x, 0x39);  // the next quarter first
  }
  x = _mm512_maskz_shuffle_f32x4(0xFFFF, x, x, 0);
  TFAOT_NOT_UNROLLED
  for (; count > 0; --count, b += kRowWidth) {
    sums[1][0][0] += spread<0>(x) * load(b);
    x = _mm512_maskz_permute_ps(0xFFFF, x, 0x39);  // the next number first
  }
}

// Adds the products with a panel, and returns where the next one begins. The last vector goes
// through the same loop: the processor foresees most if each instruction always goes equally far.
// kAhead: panels are asked for so many bytes ahead; 0: they are not.
template <Int kAhead>
TFAOT_INLINE const float* add_panel(RowSums& sums, const RowInput& in, const float* b) {
  constexpr Int kQuarter = kSpread * kRowWidth;
  const Int part = in.depth % kRowWidth;
  const Int whole = in.depth - part;
  for (Int k = 0; k < whole; k += kRowWidth, b += 4 * kQuarter) {
    Vec<float> x = in.last;
    if (__builtin_expect(k != in.before, 1)) x = load(in.x + k);
    keep(x);  // else the compiler loads each quarter alone
    add_quarter<0, kAhead>(sums, x, b);
    add_quarter<1, kAhead>(sums, x, b + kQuarter);
    add_quarter<2, kAhead>(sums, x, b + 2 * kQuarter);
    add_quarter<3, kAhead>(sums, x, b + 3 * kQuarter);
  }
  if (part != 0) add_part<kAhead>(sums, in.last, b, part);
  return b + part * kRowWidth;
}

#else

template <Int kAhead>
TFAOT_INLINE const float* add_panel(RowSums& sums, const RowInput& in, const float* b) {
  constexpr Int kSteps = 4;
  const float* const a[] = {in.x};
  Int k = 0;
  for (; k + kSteps <= in.depth; k += kSteps, b += kSteps * kRowWidth) {
    if constexpr (kAhead > 0) fetch_ahead<kSteps, kAhead>(b);
#if TFAOT_CAN_SPREAD
    static_assert(kRowSums == kSpread && kSteps == kSpread, "a sum for each step");
    multiply_spread(sums, 0, a, k, b, 0);
#else
    TFAOT_UNROLL
    for (Int i = 0; i < kSteps; ++i) {
      multiply_step(sums[i % kRowSums], a, k + i, b + i * kRowWidth, 0);
    }
#endif
  }
  TFAOT_NOT_UNROLLED
  for (; k < in.depth; ++k, b += kRowWidth) multiply_step(sums[kRowSums - 1], a, k, b, 0);
  return b;
}

#endif

}  // namespace
