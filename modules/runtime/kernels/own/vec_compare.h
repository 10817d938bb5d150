// SPDX-License-Identifier: Apache-2.0
// The larger and the smaller elements of vectors, and where NaN goes in that.
#pragma once

#include "vec.h"

namespace {

// a > b ? a : b, that is b where one is NaN. AVX-512's full mask: g++ 12 takes its own header's
// other form for a mistake.
template <typename T>
TFAOT_INLINE Vec<T> larger_of(Vec<T> a, Vec<T> b) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) return _mm512_maskz_max_ps(0xFFFF, a, b);
  if constexpr (sizeof(T) == 8) return _mm512_maskz_max_pd(0xFF, a, b);
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4) return _mm256_max_ps(a, b);
  if constexpr (sizeof(T) == 8) return _mm256_max_pd(a, b);
#elif defined(__SSE2__)
  if constexpr (sizeof(T) == 4) return _mm_max_ps(a, b);
  if constexpr (sizeof(T) == 8) return _mm_max_pd(a, b);
#else
  return a > b ? a : b;
#endif
}

// The same for a < b.
template <typename T>
TFAOT_INLINE Vec<T> smaller_of(Vec<T> a, Vec<T> b) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 4) return _mm512_maskz_min_ps(0xFFFF, a, b);
  if constexpr (sizeof(T) == 8) return _mm512_maskz_min_pd(0xFF, a, b);
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 4) return _mm256_min_ps(a, b);
  if constexpr (sizeof(T) == 8) return _mm256_min_pd(a, b);
#elif defined(__SSE2__)
  if constexpr (sizeof(T) == 4) return _mm_min_ps(a, b);
  if constexpr (sizeof(T) == 8) return _mm_min_pd(a, b);
#else
  return a < b ? a : b;
#endif
}

// The larger one; NaN if either is. What comes from a running maximum is best b: it waits for the
// comparison of a, not the other way round.
template <typename T>
TFAOT_INLINE Vec<T> maximum(Vec<T> a, Vec<T> b) {
  return a == a ? larger_of<T>(a, b) : a;
}

// max(v, 0) as XLA means it: a NaN stays.
template <typename T>
TFAOT_INLINE Vec<T> relu(Vec<T> v) {
  return larger_of<T>(Vec<T>{}, v);
}

}  // namespace
