// SPDX-License-Identifier: Apache-2.0
// The larger and the smaller elements of vectors, with a rule for NaN.
#pragma once

#include "simd/vec.h"

namespace {

// a > b ? a : b, so b if one is NaN. AVX-512 with a full mask: g++ 12 warns about the other form in
// its own header.
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

// The start value for the maximum of a window, up to its sign. A running maximum is
// larger_of(input, maximum): NaN is ignored. As in TensorFlow's kernels, the only infinity in a
// result is a positive one.
template <typename T>
constexpr T kLargest = sizeof(T) == 4 ? static_cast<T>(__FLT_MAX__) : static_cast<T>(__DBL_MAX__);

// max(v, 0) as XLA defines it: a NaN stays.
template <typename T>
TFAOT_INLINE Vec<T> relu(Vec<T> v) {
  return larger_of<T>(Vec<T>{}, v);
}

// What is done to results at last.
enum class Rectifier { kNone, kRelu, kRelu6 };

TFAOT_INLINE Rectifier rectifier_of(Int epilogue) {
  if ((epilogue & tfaot::kernels::kEpilogueRelu) == 0) return Rectifier::kNone;
  const bool is_six = (epilogue & tfaot::kernels::kEpilogueRelu6) == tfaot::kernels::kEpilogueRelu6;
  return is_six ? Rectifier::kRelu6 : Rectifier::kRelu;
}

// A NaN stays.
template <typename T>
TFAOT_INLINE Vec<T> rectified(Vec<T> v, Rectifier rectifier) {
  if (rectifier == Rectifier::kNone) return v;
  v = relu<T>(v);
  return rectifier == Rectifier::kRelu6 ? smaller_of<T>(Vec<T>{} + T{6}, v) : v;
}

}  // namespace
