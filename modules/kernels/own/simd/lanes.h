// SPDX-License-Identifier: Apache-2.0
// Reductions over rows of float32, a vector at a time.
#pragma once

#include "simd/vec.h"

namespace {

using Floats = Vec<float>;
using Bits = std::int32_t __attribute__((vector_size(TFAOT_VECTOR_BYTES)));

struct SumOfLanes {
  template <typename V>
  static TFAOT_INLINE V join(V a, V b) {
    return a + b;
  }
};

// If one is NaN, the result is either.
struct LargestOfLanes {
  static TFAOT_INLINE Floats join(Floats a, Floats b) { return larger_of<float>(a, b); }
  template <typename V>
  static TFAOT_INLINE V join(V a, V b) {
    return a > b ? a : b;
  }
};

template <int kBytes>
struct FloatsOf;
template <>
struct FloatsOf<16> {
  using Type = float __attribute__((vector_size(16)));
};
template <>
struct FloatsOf<32> {
  using Type = float __attribute__((vector_size(32)));
};
template <>
struct FloatsOf<64> {
  using Type = float __attribute__((vector_size(64)));
};

// Reduces a vector to one number: its halves are joined, then theirs.
template <typename Op, int kBytes = TFAOT_VECTOR_BYTES>
TFAOT_INLINE float over_lanes(typename FloatsOf<kBytes>::Type v) {
  if constexpr (kBytes == 16) {
#if defined(__SSE2__)
    v = Op::join(v, typename FloatsOf<16>::Type(_mm_movehl_ps(v, v)));
    return Op::join(v[0], v[1]);
#else
    return Op::join(Op::join(v[0], v[2]), Op::join(v[1], v[3]));
#endif
  } else {
    typename FloatsOf<kBytes / 2>::Type low, high;
#if defined(__AVX512DQ__)
    if constexpr (kBytes == 64) {  // g++ 12 would do this in memory
      low = _mm512_maskz_extractf32x8_ps(0xFF, v, 0);
      high = _mm512_maskz_extractf32x8_ps(0xFF, v, 1);
      return over_lanes<Op, kBytes / 2>(Op::join(low, high));
    }
#endif
    __builtin_memcpy(&low, &v, sizeof low);
    __builtin_memcpy(&high, reinterpret_cast<const char*>(&v) + sizeof low, sizeof high);
    return over_lanes<Op, kBytes / 2>(Op::join(low, high));
  }
}

// The first `count` elements of a vector; the others become `other`.
TFAOT_INLINE Floats first_or(Floats v, Int count, float other) {
  if (!TFAOT_HAS_MASKS && count == kLanes<float>) return v;
  Bits lane = {};
  TFAOT_UNROLL
  for (int i = 0; i < kLanes<float>; ++i) lane[i] = i;
  return lane < static_cast<std::int32_t>(count) ? v : Floats{} + other;
}

// Used in place of load_first() and store_first(), which are slow for whole vectors.
TFAOT_INLINE Floats load_some(const float* from, Int count) {
  return count == kLanes<float> ? load(from) : load_first(from, count);
}
TFAOT_INLINE void store_some(float* to, Floats v, Int count) {
  if (count == kLanes<float>) return store(to, v);
  store_first(to, v, count);
}

// Joins of(place, count) over the vectors of a row. Where `count` is less than a vector, the other
// lanes of its result must be neutral.
template <typename Op, typename Of>
TFAOT_INLINE float over_row(Int columns, float start, const Of& of) {
  constexpr Int kWidth = kLanes<float>;
  Floats even = Floats{} + start;
  Floats odd = even;
  Int j = 0;
  for (; j + 2 * kWidth <= columns; j += 2 * kWidth) {
    even = Op::join(of(j, kWidth), even);
    odd = Op::join(of(j + kWidth, kWidth), odd);
  }
  if (j + kWidth <= columns) {
    even = Op::join(of(j, kWidth), even);
    j += kWidth;
  }
  if (j < columns) odd = Op::join(of(j, columns - j), odd);
  return over_lanes<Op>(Op::join(even, odd));
}

// Square roots.
TFAOT_INLINE Floats roots_of(Floats v) {
#if TFAOT_VECTOR_BYTES == 64
  return _mm512_maskz_sqrt_ps(0xFFFF, v);
#elif TFAOT_VECTOR_BYTES == 32
  return _mm256_sqrt_ps(v);
#elif defined(__SSE2__)
  return _mm_sqrt_ps(v);
#else
  TFAOT_UNROLL
  for (int i = 0; i < kLanes<float>; ++i) v[i] = __builtin_sqrtf(v[i]);
  return v;
#endif
}

// Calls use(place, count) for each vector of a row.
template <typename Use>
TFAOT_INLINE void along_row(Int columns, const Use& use) {
  constexpr Int kWidth = kLanes<float>;
  Int j = 0;
  for (; j + kWidth <= columns; j += kWidth) use(j, kWidth);
  if (j < columns) use(j, columns - j);
}

}  // namespace
