// SPDX-License-Identifier: Apache-2.0
// Weights in fewer bits (abi.h), widened to vectors of float: load() reads vector v of a group,
// step() gives what it holds for step i.
#pragma once

#include "simd/vec.h"

namespace {

using Words = std::uint32_t __attribute__((vector_size(TFAOT_VECTOR_BYTES)));
using SignedWords = std::int32_t __attribute__((vector_size(TFAOT_VECTOR_BYTES)));

TFAOT_INLINE Words load_words(const unsigned char* from) {
  Words words;
  __builtin_memcpy(&words, from, sizeof words);
  keep(words);
  return words;
}

struct Bfloat16 {
  using Group = Words;
  static constexpr int kSteps = 2;
  static constexpr Int kGroupBytes = tfaot::kernels::kPanelBytes;

  static TFAOT_INLINE Group load(const unsigned char* group, int v) {
    return load_words(group + v * TFAOT_VECTOR_BYTES);
  }
  static TFAOT_INLINE Vec<float> step(Group words, int i) {
    return Vec<float>(i == 0 ? words << 16 : words & 0xFFFF0000U);
  }
};

struct Int8 {
  using Group = Words;
  static constexpr int kSteps = 4;
  static constexpr Int kGroupBytes = tfaot::kernels::kPanelBytes;

  static TFAOT_INLINE Group load(const unsigned char* group, int v) {
    return load_words(group + v * TFAOT_VECTOR_BYTES);
  }
  static TFAOT_INLINE Vec<float> step(Group words, int i) {
    return __builtin_convertvector(SignedWords(words << (24 - 8 * i)) >> 24, Vec<float>);
  }
};

struct Float16 {
  using Group = Vec<float>;
  static constexpr int kSteps = 1;
  static constexpr Int kGroupBytes = tfaot::kernels::kPanelBytes / 2;

  static TFAOT_INLINE Vec<float> step(Group wide, int /*i*/) { return wide; }
  static TFAOT_INLINE Group load(const unsigned char* group, int v) {
    const unsigned char* const from = group + v * (TFAOT_VECTOR_BYTES / 2);
#if defined(__AVX512F__)
    __m256i halves;
    __builtin_memcpy(&halves, from, sizeof halves);
    return _mm512_maskz_cvtph_ps(0xFFFF, halves);
#elif defined(__F16C__)
    __m128i halves;
    __builtin_memcpy(&halves, from, sizeof halves);
    return _mm256_cvtph_ps(halves);
#elif defined(__aarch64__)
    using Halves = __fp16 __attribute__((vector_size(TFAOT_VECTOR_BYTES / 2)));
    Halves halves;
    __builtin_memcpy(&halves, from, sizeof halves);
    return __builtin_convertvector(halves, Vec<float>);
#else
    using Halves = std::uint16_t __attribute__((vector_size(TFAOT_VECTOR_BYTES / 2)));
    Halves halves;
    __builtin_memcpy(&halves, from, sizeof halves);
    const Words words = __builtin_convertvector(halves, Words);
    const Words exponent = words & 0x7C00U;
    // A number, with the exponent's other bias; a subnormal one, which is a multiple of 2^-24; and
    // what is not finite.
    const Words normal = ((words & 0x7FFFU) << 13) + (112U << 23);
    const Vec<float> small =
        __builtin_convertvector(SignedWords(words & 0x03FFU), Vec<float>) * 0x1p-24F;
    const Words is_small = Words(exponent == 0U);
    const Words is_large = Words(exponent == 0x7C00U);
    return Vec<float>((Words(small) & is_small) | (normal & ~is_small) | (is_large & 0x7F800000U) |
                      ((words & 0x8000U) << 16));
#endif
  }
};

}  // namespace
