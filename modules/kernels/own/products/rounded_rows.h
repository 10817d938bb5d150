// SPDX-License-Identifier: Apache-2.0
// The parts of products of rounded rows (rounded_product.h): rows as whole numbers of 16 bits, and
// their multiply-adds with weights of int8.
#pragma once

#include "products/narrow_product.h"

#define TFAOT_CAN_ROUND_ROWS (TFAOT_VECTOR_BYTES >= 32)
#if TFAOT_CAN_ROUND_ROWS

namespace {

using tfaot::kernels::kRoundedRows;
using tfaot::kernels::rounded_row_bytes;

using Halves = std::int16_t __attribute__((vector_size(TFAOT_VECTOR_BYTES)));

constexpr int kRoundedSteps = Int8::kSteps;
constexpr int kParts = 2 * Int8::kGroupBytes / TFAOT_VECTOR_BYTES;  // of a group, as 16 bits
// The products of so many groups, of 16 bits by 8, fit into a sum of 32 bits.
constexpr Int kGroupsPerSum = 128;
static_assert(kRoundedSteps * 32767 * 128 * kGroupsPerSum <= INT32_MAX, "sums overflow");
// Rows of a tile, by the registers that hold its sums.
constexpr int kMostRoundedRows = TFAOT_VECTOR_BYTES == 64 ? 8 : 2;

TFAOT_INLINE Halves load_part(const unsigned char* group, int part) {
  const unsigned char* const from = group + part * (TFAOT_VECTOR_BYTES / 2);
#if TFAOT_VECTOR_BYTES == 64
  __m256i bytes;
  __builtin_memcpy(&bytes, from, sizeof bytes);
  return Halves(_mm512_maskz_cvtepi8_epi16(0xFFFFFFFFU, bytes));
#else
  __m128i bytes;
  __builtin_memcpy(&bytes, from, sizeof bytes);
  return Halves(_mm256_cvtepi8_epi16(bytes));
#endif
}

// The four numbers of a row that a group meets, again and again.
TFAOT_INLINE Halves spread_steps(const std::int16_t* from) {
  long long steps;
  __builtin_memcpy(&steps, from, sizeof steps);
  using Longs = long long __attribute__((vector_size(TFAOT_VECTOR_BYTES)));
  return Halves(Longs{} + steps);
}

// Sums of two neighbouring products each.
TFAOT_INLINE SignedWords multiply_pairs(Halves a, Halves b) {
#if TFAOT_VECTOR_BYTES == 64
  return SignedWords(_mm512_maskz_madd_epi16(0xFFFF, __m512i(a), __m512i(b)));
#else
  return SignedWords(_mm256_madd_epi16(__m256i(a), __m256i(b)));
#endif
}

// A column has two sums side by side.
TFAOT_INLINE Vec<float> join_pairs(SignedWords low, SignedWords high) {
#if TFAOT_VECTOR_BYTES == 64
#define TFAOT_EVERY_SECOND(i)                                                                    \
  i, i + 2, i + 4, i + 6, i + 8, i + 10, i + 12, i + 14, i + 16, i + 18, i + 20, i + 22, i + 24, \
      i + 26, i + 28, i + 30
#else
#define TFAOT_EVERY_SECOND(i) i, i + 2, i + 4, i + 6, i + 8, i + 10, i + 12, i + 14
#endif
  const SignedWords sums = __builtin_shufflevector(low, high, TFAOT_EVERY_SECOND(0)) +
                           __builtin_shufflevector(low, high, TFAOT_EVERY_SECOND(1));
#undef TFAOT_EVERY_SECOND
  return __builtin_convertvector(sums, Vec<float>);
}

// The largest of a vector's lanes: of its halves, then of theirs.
TFAOT_INLINE std::int32_t largest_lane(SignedWords words) {
  using Eight = std::int32_t __attribute__((vector_size(32)));
#if TFAOT_VECTOR_BYTES == 64
  const auto low = Eight(_mm512_maskz_extracti32x8_epi32(0xFF, __m512i(words), 0));
  const auto high = Eight(_mm512_maskz_extracti32x8_epi32(0xFF, __m512i(words), 1));
  Eight largest = low > high ? low : high;
#else
  Eight largest = words;
#endif
  const auto meet = [&](Eight other) __attribute__((always_inline)) {
    largest = other > largest ? other : largest;
  };
  meet(__builtin_shufflevector(largest, largest, 4, 5, 6, 7, 0, 1, 2, 3));
  meet(__builtin_shufflevector(largest, largest, 2, 3, 0, 1, 6, 7, 4, 5));
  meet(__builtin_shufflevector(largest, largest, 1, 0, 3, 2, 5, 4, 7, 6));
  return largest[0];
}

// The bits of a row's largest number without signs: those of a NaN are larger than all others.
TFAOT_INLINE std::int32_t largest_bits(const float* row, Int count) {
  SignedWords largest = {};
  const auto meet = [&](Vec<float> v) __attribute__((always_inline)) {
    SignedWords bits;
    __builtin_memcpy(&bits, &v, sizeof bits);
    bits &= INT32_MAX;
    largest = bits > largest ? bits : largest;
  };
  Int k = 0;
  for (; k + kLanes<float> <= count; k += kLanes<float>) meet(load(row + k));
  if (k < count) meet(load_first(row + k, count - k));
  return largest_lane(largest);
}

TFAOT_INLINE void round_vector(std::int16_t* to, Vec<float> v) {
#if TFAOT_VECTOR_BYTES == 64
  const __m256i halves =
      _mm512_maskz_cvtepi32_epi16(0xFFFF, _mm512_maskz_cvtps_epi32(0xFFFF, __m512(v)));
#else
  const __m256i words = _mm256_cvtps_epi32(v);
  const __m128i halves =
      _mm_packs_epi32(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
#endif
  __builtin_memcpy(to, &halves, sizeof halves);
}

// Writes the row with zeros up to a whole vector, and returns what its numbers are multiplied with;
// negative if it cannot be rounded.
TFAOT_INLINE float round_row(std::int16_t* to, const float* row, Int count) {
  constexpr float kSmallest = 1e-20F, kLargestRounded = 1e27F;
  const std::int32_t bits = largest_bits(row, count);
  float largest;
  __builtin_memcpy(&largest, &bits, sizeof largest);
  if (bits != 0 && !(largest >= kSmallest && largest <= kLargestRounded)) return -1;
  const float inverse = bits == 0 ? 0.0F : 32767.0F / largest;
  Int k = 0;
  for (; k + kLanes<float> <= count; k += kLanes<float>) {
    round_vector(to + k, load(row + k) * inverse);
  }
  if (k < count) round_vector(to + k, load_first(row + k, count - k) * inverse);
  return largest * (1.0F / 32767.0F);
}

}  // namespace

#endif
