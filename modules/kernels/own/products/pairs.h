// SPDX-License-Identifier: Apache-2.0
// Whole numbers of 8 bits in panels, four steps of the depth in a word, multiplied by rows of whole
// numbers of 16 bits: an instruction of every level multiplies neighbours and adds them.
#pragma once

#include "simd/kernel.h"

namespace {

using SignedWords = Vec<std::int32_t>;
using Halves = Vec<std::int16_t>;

constexpr int kPairSteps = 4;                 // of a word
constexpr Int kPairGroupBytes = kPanelBytes;  // a panel's words of the same steps
constexpr int kParts = 2 * kPairGroupBytes / TFAOT_VECTOR_BYTES;  // of a group, as 16 bits

TFAOT_INLINE Halves widen_part(const unsigned char* group, int part) {
  const unsigned char* const from = group + part * (TFAOT_VECTOR_BYTES / 2);
#if TFAOT_VECTOR_BYTES == 64
  return Halves(_mm512_maskz_cvtepi8_epi16(0xFFFFFFFFU, read_as<__m256i>(from)));
#elif TFAOT_VECTOR_BYTES == 32
  return Halves(_mm256_cvtepi8_epi16(read_as<__m128i>(from)));
#else
  using Quarters = VecOf<std::int8_t, TFAOT_VECTOR_BYTES / 2>::Type;
  return __builtin_convertvector(read_as<Quarters>(from), Halves);
#endif
}

// The four numbers of a row for a group, repeated over the vector.
TFAOT_INLINE Halves spread_steps(const std::int16_t* from) {
  return Halves(Vec<std::int64_t>{} + read_as<std::int64_t>(from));
}

// Multiplies, and adds two neighbouring products each.
TFAOT_INLINE SignedWords multiply_pairs(Halves a, Halves b) {
#if TFAOT_VECTOR_BYTES == 64
  return SignedWords(_mm512_maskz_madd_epi16(0xFFFF, __m512i(a), __m512i(b)));
#elif TFAOT_VECTOR_BYTES == 32
  return SignedWords(_mm256_madd_epi16(__m256i(a), __m256i(b)));
#elif defined(__SSE2__)
  return SignedWords(_mm_madd_epi16(__m128i(a), __m128i(b)));
#else
  const SignedWords pairs_a = SignedWords(a), pairs_b = SignedWords(b);
  return (pairs_a >> 16) * (pairs_b >> 16) + (pairs_a << 16 >> 16) * (pairs_b << 16 >> 16);
#endif
}

// Adds up the two neighbouring sums of each column.
template <int kFirst>
struct EverySecondLane {
  static constexpr int at(int l) { return 2 * l + kFirst; }
};
TFAOT_INLINE SignedWords join_pairs(SignedWords low, SignedWords high) {
  return shuffle<EverySecondLane<0>>(low, high) + shuffle<EverySecondLane<1>>(low, high);
}

}  // namespace
