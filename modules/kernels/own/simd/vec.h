// SPDX-License-Identifier: Apache-2.0
// Vectors as wide as the CPU level that a source is compiled for, as the compilers' own vector
// types: + * and comparisons work on them, and a scalar operand is broadcast. A sum of a product is
// multiply_add(): the compilers may not choose where to fuse (-ffp-contract=off), because a number
// must not depend on their choice.
//
// The sources of this folder are compiled once per level. Everything in these headers has internal
// linkage, and memcpy is the only function used from the standard library. The linker would merge
// an inline function that two levels share, and AVX-512 code would run on a CPU without it. A test
// checks the objects' symbols.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "tfaot/kernels/abi.h"

// TFAOT_VECTOR_BYTES, TFAOT_TILE_SUMS and TFAOT_TILE_ROWS come from levels.def: a tile's sums leave
// a quarter of the registers for its factors.
#define TFAOT_VECTOR_REGISTERS (TFAOT_TILE_SUMS / 3 * 4)

// True if the first elements of a vector can be loaded and stored as fast as all of them.
#define TFAOT_HAS_MASKS (TFAOT_VECTOR_BYTES == 64)

// Unrolled loops, in which arrays that the number indexes stay in registers. TFAOT_FOR is like for;
// TFAOT_EACH is over i = 0, 1, ..., count - 1.
#define TFAOT_FOR(...) _Pragma("GCC unroll 32") for (__VA_ARGS__)
#define TFAOT_EACH(i, count) TFAOT_FOR (int i = 0; i < (count); ++i)
#define TFAOT_ROLLED_FOR(...) _Pragma("GCC unroll 1") for (__VA_ARGS__)  // never unrolled
#define TFAOT_INLINE inline __attribute__((always_inline))
#define TFAOT_ALWAYS __attribute__((always_inline))  // inlined, of a lambda

namespace {

using namespace tfaot::kernels;

using Int = std::int64_t;

template <typename T, int kBytes = TFAOT_VECTOR_BYTES>
struct VecOf {
  using Type __attribute__((vector_size(kBytes))) = T;
};
template <typename T>
using Vec = typename VecOf<T>::Type;

constexpr Int kVectorsPerPanel = kPanelBytes / TFAOT_VECTOR_BYTES;
template <typename T>
constexpr Int kLanes = TFAOT_VECTOR_BYTES / sizeof(T);
template <typename T>
constexpr Int kPanelColumns = kPanelBytes / sizeof(T);

TFAOT_INLINE constexpr Int ceil_div(Int a, Int b) { return (a + b - 1) / b; }
TFAOT_INLINE constexpr Int smaller(Int a, Int b) { return a < b ? a : b; }
TFAOT_INLINE constexpr Int larger(Int a, Int b) { return a > b ? a : b; }

// A number or a vector in memory of any type.
template <typename V>
TFAOT_INLINE V read_as(const void* from) {
  V v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}
template <typename T>
TFAOT_INLINE Vec<T> load(const T* from) {
  return read_as<Vec<T>>(from);
}

// The number in each lane; a vector stays as it is. (Adding 0 would change -0, so g++ would add.)
template <typename V, typename T>
TFAOT_INLINE V spread(T of) {
  if constexpr (std::is_same_v<V, T>) {
    return of;
  } else {
    return static_cast<std::remove_reference_t<decltype(V{}[0])>>(of) - V{};
  }
}

// kProduct * a * b + kSum * c, each of them a vector or a number: rounded once, where the level has
// an instruction for it. kProduct and kSum: 1 or -1.
#if TFAOT_VECTOR_BYTES == 64
#define TFAOT_FUSED(name, type) _mm512_##name##_##type(a, b, c)
#elif TFAOT_VECTOR_BYTES == 32
#define TFAOT_FUSED(name, type) _mm256_##name##_##type(a, b, c)
#endif
template <int kProduct, int kSum, typename V>
TFAOT_INLINE V multiply_add_vectors(V a, V b, V c) {
#if defined(TFAOT_FUSED)
  constexpr bool kFloats = std::is_same_v<V, Vec<float>>;
  if constexpr (kFloats && kProduct > 0 && kSum > 0) return TFAOT_FUSED(fmadd, ps);
  if constexpr (kFloats && kProduct < 0 && kSum > 0) return TFAOT_FUSED(fnmadd, ps);
  if constexpr (kFloats && kProduct > 0 && kSum < 0) return TFAOT_FUSED(fmsub, ps);
  if constexpr (kFloats && kProduct < 0 && kSum < 0) return TFAOT_FUSED(fnmsub, ps);
  if constexpr (!kFloats && kProduct > 0 && kSum > 0) return TFAOT_FUSED(fmadd, pd);
  if constexpr (!kFloats && kProduct < 0 && kSum > 0) return TFAOT_FUSED(fnmadd, pd);
  if constexpr (!kFloats && kProduct > 0 && kSum < 0) return TFAOT_FUSED(fmsub, pd);
  if constexpr (!kFloats && kProduct < 0 && kSum < 0) return TFAOT_FUSED(fnmsub, pd);
#elif defined(__aarch64__)
  if constexpr (kProduct < 0) a = -a;
  if constexpr (kSum < 0) c = -c;
#if defined(__clang__)
  TFAOT_EACH (i, sizeof(V) / sizeof(a[0])) {
    c[i] = sizeof(a[0]) == 4 ? __builtin_fmaf(a[i], b[i], c[i]) : __builtin_fma(a[i], b[i], c[i]);
  }
  return c;
#else
  if constexpr (sizeof(a[0]) == 4) return __builtin_aarch64_fmav4sf(a, b, c);
  if constexpr (sizeof(a[0]) == 8) return __builtin_aarch64_fmav2df(a, b, c);
#endif
#else
  const V product = kProduct > 0 ? a * b : -(a * b);
  return kSum > 0 ? product + c : product - c;
#endif
}
template <int kProduct = 1, int kSum = 1, typename V, typename B, typename C>
TFAOT_INLINE V multiply_add(V a, B b, C c) {
  return multiply_add_vectors<kProduct, kSum>(a, spread<V>(b), spread<V>(c));
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
  TFAOT_FOR (Int piece = kLanes<T> / 2; piece > 0; piece /= 2) {
    if ((count & piece) == 0) continue;
    __builtin_memcpy(to, from, static_cast<unsigned long>(piece) * sizeof(T));
    to += piece;
    from += piece;
  }
}

// Without instructions for parts of vectors, code for them is long, and has one copy.
#if TFAOT_VECTOR_BYTES == 16
#define TFAOT_OF_PART __attribute__((noinline))
#else
#define TFAOT_OF_PART TFAOT_INLINE
#endif

// The first `count` elements of a vector. The others are zero; their memory is not touched.
template <typename T>
TFAOT_OF_PART Vec<T> load_first(const T* from, Int count) {
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
TFAOT_OF_PART void store_first(T* to, Vec<T> v, Int count) {
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

// Used in place of load_first() and store_first(), which are slow for whole vectors.
template <typename T>
TFAOT_INLINE Vec<T> load_some(const T* from, Int count) {
  return count == kLanes<T> ? load(from) : load_first(from, count);
}
template <typename T>
TFAOT_INLINE void store_some(T* to, Vec<T> v, Int count) {
  if (count == kLanes<T>) return store(to, v);
  store_first(to, v, count);
}

// The same if the compiler knows which. kPart: `count` elements, else whole vectors.
template <bool kPart, typename T>
TFAOT_INLINE Vec<T> load_part(const T* from, Int count) {
  if constexpr (kPart) return load_first(from, count);
  return load(from);
}
template <bool kPart, typename T>
TFAOT_INLINE void store_part(T* to, Vec<T> v, Int count) {
  if constexpr (kPart) return store_first(to, v, count);
  store(to, v);
}

// Calls use(place, count) for each vector of a row of `size` elements.
template <typename T = float, typename Use>
TFAOT_INLINE void along_row(Int size, const Use& use) {
  Int j = 0;
  for (; j + kLanes<T> <= size; j += kLanes<T>) use(j, kLanes<T>);
  if (j < size) use(j, size - j);
}

// A number that the compiler knows, as an argument.
template <int kNumber>
using Number = std::integral_constant<int, kNumber>;

// Calls use(Number<i>()) for i = 0, 1, ..., kCount - 1.
template <int kCount, typename Use>
TFAOT_INLINE void for_each(const Use& use) {
  if constexpr (kCount > 0) {
    for_each<kCount - 1>(use);
    use(Number<kCount - 1>());
  }
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

// Instructions for the larger and the smaller of the elements of a and b. AVX-512 with a full mask:
// g++ 12 warns about the other form in its own header.
#if TFAOT_VECTOR_BYTES == 64
#define TFAOT_INSTRUCTION(name, mask) _mm512_maskz_##name(mask, a, b)
#elif TFAOT_VECTOR_BYTES == 32
#define TFAOT_INSTRUCTION(name, mask) _mm256_##name(a, b)
#elif defined(__SSE2__)
#define TFAOT_INSTRUCTION(name, mask) _mm_##name(a, b)
#else
// Denormal numbers become zero if the machine is set so, as in those instructions. A choice between
// two numbers keeps them. The compiler would drop a product with a 1 that it knows.
template <typename T>
TFAOT_INLINE Vec<T> without_denormals(Vec<T> v) {
  T one = 1;
  asm("" : "+w"(one));
  return v * one;
}
#endif

// Elementwise a > b ? a : b, so b if one is NaN.
template <typename T>
TFAOT_INLINE Vec<T> larger_of(Vec<T> a, Vec<T> b) {
#if defined(TFAOT_INSTRUCTION)
  if constexpr (sizeof(T) == 4) return TFAOT_INSTRUCTION(max_ps, 0xFFFF);
  if constexpr (sizeof(T) == 8) return TFAOT_INSTRUCTION(max_pd, 0xFF);
#else
  return without_denormals<T>(a > b ? a : b);
#endif
}

// The same for a < b.
template <typename T>
TFAOT_INLINE Vec<T> smaller_of(Vec<T> a, Vec<T> b) {
#if defined(TFAOT_INSTRUCTION)
  if constexpr (sizeof(T) == 4) return TFAOT_INSTRUCTION(min_ps, 0xFFFF);
  if constexpr (sizeof(T) == 8) return TFAOT_INSTRUCTION(min_pd, 0xFF);
#else
  return without_denormals<T>(a < b ? a : b);
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
  if ((epilogue & kEpilogueRelu) == 0) return Rectifier::kNone;
  const bool is_six = (epilogue & kEpilogueRelu6) == kEpilogueRelu6;
  return is_six ? Rectifier::kRelu6 : Rectifier::kRelu;
}

// NaN stays.
template <typename T>
TFAOT_INLINE Vec<T> rectified(Vec<T> v, Rectifier rectifier) {
  if (rectifier == Rectifier::kNone) return v;
  v = relu<T>(v);
  return rectifier == Rectifier::kRelu6 ? smaller_of<T>(Vec<T>{} + T{6}, v) : v;
}

// ---- Rows of float32, a vector at a time.

using Floats = Vec<float>;
using Bits = Vec<std::int32_t>;

// What a row is reduced to: the first value of a lane, what a vector adds to it, and two joined.
struct SumOfLanes {
  static constexpr float kStart = 0;
  static TFAOT_INLINE Floats first(Floats v) { return v; }
  static TFAOT_INLINE Floats add(Floats v, Floats sum) { return sum + v; }
  template <typename V>
  static TFAOT_INLINE V join(V a, V b) {
    return a + b;
  }
};

struct SumOfSquares : SumOfLanes {
  static TFAOT_INLINE Floats first(Floats v) { return v * v; }
  static TFAOT_INLINE Floats add(Floats v, Floats sum) { return multiply_add(v, v, sum); }
};

// If one is NaN, the result is either.
struct LargestOfLanes {
  static constexpr float kStart = -__builtin_inff();
  static TFAOT_INLINE Floats first(Floats v) { return v; }
  static TFAOT_INLINE Floats add(Floats v, Floats largest) { return join(v, largest); }
  static TFAOT_INLINE Floats join(Floats a, Floats b) { return larger_of<float>(a, b); }
  template <typename V>
  static TFAOT_INLINE V join(V a, V b) {
    return a > b ? a : b;
  }
};

// The first `count` elements of a vector; the others become `other`.
TFAOT_INLINE Floats first_or(Floats v, Int count, float other) {
  if (!TFAOT_HAS_MASKS && count == kLanes<float>) return v;
  Bits lane = {};
  TFAOT_EACH (i, kLanes<float>) lane[i] = i;
  return lane < static_cast<std::int32_t>(count) ? v : Floats{} + other;
}

// The order of a row's sum depends on its columns alone, at every level (docs/reproducibility.md):
// element j belongs to sum j mod 32. Sums 16 apart are joined, then those 8 apart, 2 apart, 1
// apart, and at last the two of either half. (Quads of lanes are joined fast within, and slowly to
// each other.) A sum is never -0.
constexpr Int kRowLanes = 32;
constexpr int kSumVectors = kRowLanes / kLanes<float>;
constexpr int kEightVectors = kLanes<float> < 8 ? 2 : 1;  // that have eight sums, or sixteen

// Sixteen sums, in one vector, or the eight that are left of them.
struct JoinedSums {
  Floats v[kEightVectors];
};

// Joins the sums of vectors, of which the first kCount have some.
template <typename Op, int kCount = kSumVectors>
TFAOT_INLINE JoinedSums join_vectors(Floats (&sums)[kSumVectors]) {
  TFAOT_FOR (int step = kSumVectors / 2; step >= kEightVectors; step /= 2) {
    TFAOT_EACH (i, step) {
      if (i + step < kCount) sums[i] = Op::join(sums[i], sums[i + step]);
    }
  }
  JoinedSums joined;
  TFAOT_EACH (i, kEightVectors) joined.v[i] = i < kCount ? sums[i] : Floats{} + Op::kStart;
  return joined;
}

// Joins the lanes of a quad.
template <typename Op, typename V>
TFAOT_INLINE float over_quad(V v, int first) {
  return Op::join(Op::join(v[first], v[first + 2]), Op::join(v[first + 1], v[first + 3]));
}

template <typename Op>
TFAOT_INLINE float over_lanes(const JoinedSums& sums) {
#if TFAOT_VECTOR_BYTES == 16
  return Op::join(over_quad<Op>(sums.v[0], 0), over_quad<Op>(sums.v[1], 0));
#else
  using Eight = typename VecOf<float, 32>::Type;
#if TFAOT_VECTOR_BYTES == 64
  Eight v = Op::join(Eight(_mm512_maskz_extractf64x4_pd(0xF, __m512d(sums.v[0]), 0)),
                     Eight(_mm512_maskz_extractf64x4_pd(0xF, __m512d(sums.v[0]), 1)));
#else
  Eight v = sums.v[0];
#endif
  v = Op::join(v, __builtin_shufflevector(v, v, 2, 3, 0, 1, 6, 7, 4, 5));
  v = Op::join(v, __builtin_shufflevector(v, v, 1, 0, 3, 2, 5, 4, 7, 6));
  return Op::join(v[0], v[4]);
#endif
}

// Adds the vectors from j on to the sums from kFirst on, which are enough for them. A recursion, as
// the compiler keeps the array of an unrolled loop with an early end in memory.
template <typename Op, int kFirst = 0, typename Of>
TFAOT_INLINE void add_last(Floats (&sums)[kSumVectors], Int j, Int columns, const Of& of) {
  if constexpr (kFirst < kSumVectors) {
    constexpr Int kWidth = kLanes<float>;
    if (j + kWidth <= columns) {
      sums[kFirst] = Op::add(of(j, kWidth), sums[kFirst]);
      return add_last<Op, kFirst + 1>(sums, j + kWidth, columns, of);
    }
    if (j < columns) sums[kFirst] = Op::add(of(j, columns - j), sums[kFirst]);
  }
}

// Reduces of(place, count), the vectors of a row. Where `count` is less than a vector, the other
// lanes of its result must be neutral.
template <typename Op, typename Of>
TFAOT_INLINE float over_row(Int columns, const Of& of) {
  constexpr Int kWidth = kLanes<float>;
  Floats sums[kSumVectors];
  TFAOT_EACH (i, kSumVectors) sums[i] = Floats{} + Op::kStart;
  Int j = 0;
  for (; j + kRowLanes <= columns; j += kRowLanes) {
    TFAOT_EACH (i, kSumVectors) sums[i] = Op::add(of(j + i * kWidth, kWidth), sums[i]);
  }
  add_last<Op>(sums, j, columns, of);
  return over_lanes<Op>(join_vectors<Op>(sums));
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
  TFAOT_EACH (i, kLanes<float>) v[i] = __builtin_sqrtf(v[i]);
  return v;
#endif
}

}  // namespace
