// SPDX-License-Identifier: Apache-2.0
// Two rows by panels, and a row of float64; row_panels.h has one of float32. Such a product waits
// for its right side, so it reads that side in memory order. Reading many panels at a time would
// mean many streams, a power of two apart, whose lines compete for the same sets of the caches.
// Huge pages and prefetches of other kinds and distances gain nothing.
#pragma once

#include "products/microkernel.h"

namespace {

// Steps of a product of a few rows that load four numbers of a row at once and then spread each
// over a vector: a load for every multiply-add would take the place of a load of the right side.
#define TFAOT_CAN_SPREAD (TFAOT_IS_F32 && TFAOT_VECTOR_BYTES >= 32)
#if TFAOT_CAN_SPREAD
constexpr int kSpread = 4;

TFAOT_INLINE Vec<float> load_fours(const float* from) {
#if TFAOT_VECTOR_BYTES == 64
  Vec<float> fours = _mm512_maskz_broadcast_f32x4(0xFFFF, _mm_loadu_ps(from));
#else
  Vec<float> fours =
      _mm256_broadcast_ps(static_cast<const __m128*>(static_cast<const void*>(from)));
#endif
  asm("" : "+v"(fours));  // else the compiler loads each number alone
  return fours;
}

template <int I>
TFAOT_INLINE Vec<float> spread(Vec<float> fours) {
#if TFAOT_VECTOR_BYTES == 64
  return _mm512_maskz_permute_ps(0xFFFF, fours, I * 0x55);
#else
  return _mm256_permute_ps(fours, I * 0x55);
#endif
}

// Adds the steps k to k + kSpread to sums[first] and the following.
template <int MR, int NV, int N>
TFAOT_INLINE void multiply_spread(Vec<float> (&sums)[N][MR][NV], int first,
                                  const float* const (&a)[MR], Int k, const float* b, Int b_panel) {
  Vec<float> left[kSpread][MR];
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) {
    const Vec<float> fours = load_fours(a[r] + k);
    left[0][r] = spread<0>(fours);
    left[1][r] = spread<1>(fours);
    left[2][r] = spread<2>(fours);
    left[3][r] = spread<3>(fours);
  }
  TFAOT_UNROLL
  for (int i = 0; i < kSpread; ++i, b += kPanelColumns<float>) {
    TFAOT_UNROLL
    for (int v = 0; v < NV; ++v) {
      const Vec<float> right =
          load(b + v / kVectorsPerPanel * b_panel + v % kVectorsPerPanel * kLanes<float>);
      TFAOT_UNROLL
      for (int r = 0; r < MR; ++r) sums[first + i][r][v] += right * left[i][r];
    }
  }
}
#endif

template <typename T>
struct Stream {
  const T* a;
  Int a_row, depth;
  const T* b;
  const T* bias;  // null: none
  T* c;
  Int c_row, columns;
  Rectifier rectifier;
};

// The right side is prefetched this far ahead if it is too large to stay in the second-level cache
// with others, and small enough for the third.
constexpr Int kFetchAhead = 4096, kLeastFetched = 192 << 10, kMostFetched = 8 << 20;  // bytes

template <typename T>
bool is_fetched(const Stream<T>& s) {
  const Int bytes = s.depth * s.columns * Int{sizeof(T)};
  return bytes >= kLeastFetched && bytes <= kMostFetched;
}

// Prefetches for kSteps of a panel from b on.
template <int kSteps, typename T>
TFAOT_INLINE void fetch_ahead(const T* b) {
  constexpr Int kLine = 64;
  const auto* const from = static_cast<const char*>(static_cast<const void*>(b)) + kFetchAhead;
  TFAOT_UNROLL
  for (Int i = 0; i < kSteps * tfaot::kernels::kPanelBytes; i += kLine) {
    __builtin_prefetch(from + i);
  }
}

// Multiplies with NP panels, starting at `column`. b: their start. kPart: they have columns beyond
// those of c.
template <typename T, int MR, int NP, bool kPart, bool kFetch = false>
TFAOT_INLINE void stream_panels(const Stream<T>& s, const T* b, Int column) {
  constexpr int kVectors = NP * kVectorsPerPanel;
  constexpr int kSums = sums_per_element(MR * kVectors);
  const Int panel = s.depth * kPanelColumns<T>;
  const T* a[MR];
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) a[r] = s.a + r * s.a_row;
  Vec<T> sums[kSums][MR][kVectors] = {};
  Int k = 0;
#if TFAOT_CAN_SPREAD
  if constexpr (kSums % kSpread == 0) {
    for (; k + kSums <= s.depth; k += kSums) {
      if constexpr (kFetch) fetch_ahead<kSums>(b);
      TFAOT_UNROLL
      for (int i = 0; i < kSums; i += kSpread) {
        multiply_spread<MR, kVectors>(sums, i, a, k + i, b + i * kPanelColumns<T>, panel);
      }
      b += kSums * kPanelColumns<T>;
    }
  }
#endif
  for (; k + kSums <= s.depth; k += kSums) {
    if constexpr (kFetch) fetch_ahead<kSums>(b);
    TFAOT_UNROLL
    for (int i = 0; i < kSums; ++i) {
      multiply_step(sums[i], a, k + i, b + i * kPanelColumns<T>, panel);
    }
    b += kSums * kPanelColumns<T>;
  }
  for (; k < s.depth; ++k, b += kPanelColumns<T>) multiply_step(sums[0], a, k, b, panel);

  TFAOT_UNROLL
  for (int v = 0; v < kVectors; ++v) {
    const Int at = column + v * kLanes<T>;
    const Int count = kPart ? smaller(kLanes<T>, s.columns - at) : kLanes<T>;
    if (kPart && count <= 0) return;
    const Vec<T> bias = s.bias == nullptr ? Vec<T>{}
                        : kPart           ? load_first(s.bias + at, count)
                                          : load(s.bias + at);
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) {
      const Vec<T> sum = join_sums(sums, r, v) + bias;
      T* const to = s.c + r * s.c_row + at;
      if constexpr (kPart) {
        store_first(to, rectified<T>(sum, s.rectifier), count);
      } else {
        store(to, rectified<T>(sum, s.rectifier));
      }
    }
  }
}

// Over a short depth, adding up a panel's partial sums takes longer than computing them, so NP
// panels at a time share that. Returns the next column.
template <typename T, int NP>
TFAOT_INLINE Int stream_short(const Stream<T>& s, Int column, Int end) {
  constexpr Int kColumns = NP * kPanelColumns<T>;
  for (; column + kColumns <= end; column += kColumns) {
    stream_panels<T, 1, NP, false>(s, s.b + column * s.depth, column);
  }
  return column;
}

template <typename T, int MR, int NP>
__attribute__((noinline)) void multiply_stream(const Stream<T>& s) {
  constexpr Int kColumns = kPanelColumns<T>;
  constexpr Int kShortDepth = 32;
  const Int whole = s.columns - s.columns % kColumns;
  Int column = 0;
  if constexpr (MR == 1 && kVectorsPerPanel == 1) {
    if (s.depth <= kShortDepth) {
      column = stream_short<T, 4>(s, column, whole);
      column = stream_short<T, 2>(s, column, whole);
    }
  }
  if constexpr (NP == 1) {
    if (is_fetched(s)) {
      for (; column < whole; column += kColumns) {
        stream_panels<T, MR, 1, false, true>(s, s.b + column * s.depth, column);
      }
    }
  }
  for (; column + NP * kColumns <= whole; column += NP * kColumns) {
    stream_panels<T, MR, NP, false>(s, s.b + column * s.depth, column);
  }
  if constexpr (NP > 1) {
    for (; column < whole; column += kColumns) {
      stream_panels<T, MR, 1, false>(s, s.b + column * s.depth, column);
    }
  }
  if (column < s.columns) stream_panels<T, MR, 1, true>(s, s.b + column * s.depth, column);
}

}  // namespace
