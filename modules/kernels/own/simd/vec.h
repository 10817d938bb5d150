// SPDX-License-Identifier: Apache-2.0
// Vectors as wide as the CPU level that a source is compiled for, as the compilers' own vector
// types: + * and comparisons work on them, and a scalar operand is broadcast.
//
// The sources of this folder are compiled once per level. Everything in these headers has internal
// linkage, and memcpy is the only function used from the standard library. The linker would merge
// an inline function that two levels share, and AVX-512 code would run on a CPU without it. A test
// checks the objects' symbols.
#pragma once

#include <cstdint>
#include <utility>
#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include "tfaot/kernels/abi.h"

#if defined(__AVX512F__)
#define TFAOT_VECTOR_BYTES 64
#define TFAOT_VECTOR_REGISTERS 32
#elif defined(__AVX2__)
#define TFAOT_VECTOR_BYTES 32
#define TFAOT_VECTOR_REGISTERS 16
#elif defined(__aarch64__)
#define TFAOT_VECTOR_BYTES 16
#define TFAOT_VECTOR_REGISTERS 32
#else
#define TFAOT_VECTOR_BYTES 16
#define TFAOT_VECTOR_REGISTERS 16
#endif

// True if the first elements of a vector can be loaded and stored as fast as all of them.
#define TFAOT_HAS_MASKS (TFAOT_VECTOR_BYTES == 64)

#define TFAOT_UNROLL _Pragma("GCC unroll 32")
#define TFAOT_NOT_UNROLLED _Pragma("GCC unroll 1")
#define TFAOT_INLINE inline __attribute__((always_inline))

namespace {

using Int = std::int64_t;

template <typename T>
struct VecOf;
template <>
struct VecOf<float> {
  using Type = float __attribute__((vector_size(TFAOT_VECTOR_BYTES)));
};
template <>
struct VecOf<double> {
  using Type = double __attribute__((vector_size(TFAOT_VECTOR_BYTES)));
};
template <typename T>
using Vec = typename VecOf<T>::Type;

constexpr Int kVectorsPerPanel = tfaot::kernels::kPanelBytes / TFAOT_VECTOR_BYTES;
template <typename T>
constexpr Int kLanes = TFAOT_VECTOR_BYTES / sizeof(T);
template <typename T>
constexpr Int kPanelColumns = tfaot::kernels::kPanelBytes / sizeof(T);

TFAOT_INLINE constexpr Int ceil_div(Int a, Int b) { return (a + b - 1) / b; }
TFAOT_INLINE constexpr Int smaller(Int a, Int b) { return a < b ? a : b; }
TFAOT_INLINE constexpr Int larger(Int a, Int b) { return a > b ? a : b; }

template <typename T>
TFAOT_INLINE Vec<T> load(const T* from) {
  Vec<T> v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

// Keeps v in a register: the compiler would load it again for every use, and loads are the
// bottleneck.
template <typename V>
TFAOT_INLINE void keep([[maybe_unused]] V& v) {
#if defined(__x86_64__)
  asm("" : "+v"(v));
#endif
}

template <typename T>
TFAOT_INLINE void store(T* to, Vec<T> v) {
#if TFAOT_VECTOR_BYTES == 16
  // g++ copies 16 bytes as a whole number, and may then keep a sum in memory until that.
  using Anywhere __attribute__((vector_size(16), aligned(alignof(T)), may_alias)) = T;
  *reinterpret_cast<Anywhere*>(to) = v;
#else
  __builtin_memcpy(to, &v, sizeof v);
#endif
}

// Copies `count` elements in pieces of fixed sizes.
template <typename T>
TFAOT_INLINE void copy_elements(T* to, const T* from, Int count) {
  for (; count >= kLanes<T>; count -= kLanes<T>, to += kLanes<T>, from += kLanes<T>) {
    store(to, load(from));
  }
  TFAOT_UNROLL
  for (Int piece = kLanes<T> / 2; piece > 0; piece /= 2) {
    if ((count & piece) == 0) continue;
    __builtin_memcpy(to, from, static_cast<unsigned long>(piece) * sizeof(T));
    to += piece;
    from += piece;
  }
}

// The first `count` elements of a vector. The others are zero; their memory is not touched.
template <typename T>
TFAOT_INLINE Vec<T> load_first(const T* from, Int count) {
#if defined(__AVX512F__)
  const auto mask = static_cast<unsigned short>((1U << count) - 1);
  if constexpr (sizeof(T) == 4) return _mm512_maskz_loadu_ps(mask, from);
  if constexpr (sizeof(T) == 8) return _mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), from);
#else
  if (count >= kLanes<T>) return load(from);
#if defined(__AVX2__)
  // Through memory it would wait for the stores of the pieces.
  if constexpr (sizeof(T) == 4) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i mask = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), lane);
    return _mm256_maskload_ps(from, mask);
  }
  if constexpr (sizeof(T) == 8) {
    const __m256i lane = _mm256_setr_epi64x(0, 1, 2, 3);
    return _mm256_maskload_pd(from, _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), lane));
  }
#endif
  T elements[kLanes<T>] = {};
  copy_elements(elements, from, count);
  return load(elements);
#endif
}

template <typename T>
TFAOT_INLINE void store_first(T* to, Vec<T> v, Int count) {
#if defined(__AVX512F__)
  const auto mask = static_cast<unsigned short>((1U << count) - 1);
  if constexpr (sizeof(T) == 4) return _mm512_mask_storeu_ps(to, mask, v);
  if constexpr (sizeof(T) == 8) return _mm512_mask_storeu_pd(to, static_cast<__mmask8>(mask), v);
#else
  if (count >= kLanes<T>) return store(to, v);
  T elements[kLanes<T>];
  store(elements, v);
  copy_elements(to, elements, count);
#endif
}

// Lane l of the result is lane Lanes::at(l) of `a`, or of `b` beyond the lanes of `a`.
template <typename Lanes, typename V, int... kLane>
TFAOT_INLINE V shuffle_lanes(V a, V b, std::integer_sequence<int, kLane...> /*lanes*/) {
  return __builtin_shufflevector(a, b, Lanes::at(kLane)...);
}
template <typename Lanes, typename V>
TFAOT_INLINE V shuffle(V a, V b) {
  return shuffle_lanes<Lanes>(a, b, std::make_integer_sequence<int, sizeof(V) / sizeof(a[0])>());
}

// Swaps lanes that are kDistance apart, a power of two.
template <int kDistance>
struct MovedLanes {
  static constexpr int at(int l) { return l ^ kDistance; }
};

// Moves to the next of equally spaced addresses. The compiler would keep a register for each.
template <typename At>
TFAOT_INLINE void go_on(At& at, Int step) {
  at += step;
  asm("" : "+r"(at));
}

// Elementwise a > b ? a : b, so b if one is NaN. AVX-512 with a full mask: g++ 12 warns about the
// other form in its own header.
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

// max(v, 0) as XLA defines it: NaN stays.
template <typename T>
TFAOT_INLINE Vec<T> relu(Vec<T> v) {
  return larger_of<T>(Vec<T>{}, v);
}

// Applied to results last.
enum class Rectifier { kNone, kRelu, kRelu6 };

TFAOT_INLINE Rectifier rectifier_of(Int epilogue) {
  if ((epilogue & tfaot::kernels::kEpilogueRelu) == 0) return Rectifier::kNone;
  const bool is_six = (epilogue & tfaot::kernels::kEpilogueRelu6) == tfaot::kernels::kEpilogueRelu6;
  return is_six ? Rectifier::kRelu6 : Rectifier::kRelu;
}

// NaN stays.
template <typename T>
TFAOT_INLINE Vec<T> rectified(Vec<T> v, Rectifier rectifier) {
  if (rectifier == Rectifier::kNone) return v;
  v = relu<T>(v);
  return rectifier == Rectifier::kRelu6 ? smaller_of<T>(Vec<T>{} + T{6}, v) : v;
}

}  // namespace
