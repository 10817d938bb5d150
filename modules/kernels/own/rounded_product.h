// SPDX-License-Identifier: Apache-2.0
// Products with int8 weights whose rows are rounded to whole numbers of 16 bits, times a number for
// each row: 1 / 32767 of its largest. Then a multiply-add takes two steps of the depth, and their
// sums are exact. Rows that hold NaN or infinities, or are too large or too small for that, are
// multiplied as they are.
#pragma once

#include "narrow_product.h"

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
  std::int32_t result = 0;
  for (int i = 0; i < kLanes<float>; ++i) result = result < largest[i] ? largest[i] : result;
  return result;
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

// Some rows of the product, rounded.
struct RoundedRows {
  const std::int16_t* first;
  Int stride;
  const float* scale;  // of each row; negative: it is not rounded
  Int at;              // in the product
};

// MR rows by a panel of which c has `columns`.
template <int MR>
__attribute__((noinline)) void multiply_rounded(const NarrowProduct& p, const RoundedRows& rows,
                                                Int first_row, Int panel, Int columns) {
  const Int groups = ceil_div(p.call.depth, kRoundedSteps);
  const unsigned char* b = p.panels + panel * narrow_panel_bytes<Int8>(p.call.depth);
  const std::int16_t* a[MR];
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) a[r] = rows.first + (first_row + r) * rows.stride;
  Vec<float> totals[MR][kVectorsPerPanel] = {};
  for (Int done = 0; done < groups; done += kGroupsPerSum) {
    SignedWords sums[MR][kParts] = {};
    const Int end = smaller(groups, done + kGroupsPerSum);
    const auto add_group = [&](Int group) __attribute__((always_inline)) {
      Halves left[MR];
      TFAOT_UNROLL
      for (int r = 0; r < MR; ++r) left[r] = spread_steps(a[r] + group * kRoundedSteps);
      TFAOT_UNROLL
      for (int part = 0; part < kParts; ++part) {
        const Halves right = load_part(b, part);
        TFAOT_UNROLL
        for (int r = 0; r < MR; ++r) sums[r][part] += multiply_pairs(right, left[r]);
      }
      b += Int8::kGroupBytes;
    };
    constexpr Int kTurn = MR == 1 ? 4 : 1;
    Int group = done;
    for (; group + kTurn <= end; group += kTurn) {
      TFAOT_UNROLL
      for (Int i = 0; i < kTurn; ++i) add_group(group + i);
    }
    for (; group < end; ++group) add_group(group);
    TFAOT_UNROLL
    for (int i = 0; i < MR * kVectorsPerPanel; ++i) {
      const int r = i / kVectorsPerPanel, v = i % kVectorsPerPanel;
      totals[r][v] += join_pairs(sums[r][2 * v], sums[r][2 * v + 1]);
    }
  }
  TFAOT_UNROLL
  for (int v = 0; v < kVectorsPerPanel; ++v) {
    const Int at = panel * kColumns + v * kLanes<float>;
    const Int count = columns_of(columns, v);
    if (count <= 0) return;
    const Vec<float> scale = load_first(p.scale + at, count);
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) {
      const Int row = first_row + r;
      finish_sums(p, totals[r][v] * (scale * rows.scale[row]), rows.at + row, at, count);
    }
  }
}

// As many blocks of MR rows as there are; returns the rows that are done.
template <int MR>
TFAOT_INLINE Int multiply_rounded_rows(const NarrowProduct& p, const RoundedRows& rows, Int done,
                                       Int count, Int panel, Int columns) {
  if constexpr (MR <= kMostRoundedRows) {
    for (; count - done >= MR; done += MR) multiply_rounded<MR>(p, rows, done, panel, columns);
  }
  return done;
}

// A row as it is, by weights that are scaled before they meet it.
__attribute__((noinline)) void multiply_plain_row(const NarrowProduct& p, Int row) {
  const Int depth = p.call.depth;
  const float* const a = p.a + row * p.call.lhs_row_stride;
  for (Int column = 0, panel = 0; column < p.call.columns; column += kColumns, ++panel) {
    for (int v = 0; v < kVectorsPerPanel; ++v) {
      const Int at = column + v * kLanes<float>;
      const Int count = columns_of(p.call.columns - column, v);
      if (count <= 0) return;
      const Vec<float> scale = load_first(p.scale + at, count);
      const unsigned char* b = p.panels + panel * narrow_panel_bytes<Int8>(depth);
      Vec<float> sum = {};
      for (Int k = 0; k < depth; k += Int8::kSteps, b += Int8::kGroupBytes) {
        const Words group = Int8::load(b, v);
        for (int i = 0; i < smaller(Int8::kSteps, depth - k); ++i) {
          sum += Int8::step(group, i) * scale * a[k + i];
        }
      }
      finish_sums(p, sum, row, at, count);
    }
  }
}

// All rows.
void multiply_by_rounding(const NarrowProduct& p) {
  auto* const rounded = static_cast<std::int16_t*>(static_cast<void*>(p.scratch));
  float scale[kRoundedRows];
  const Int stride = rounded_row_bytes(p.call.depth) / 2;
  for (Int first = 0; first < p.call.rows; first += kRoundedRows) {
    const Int count = smaller(kRoundedRows, p.call.rows - first);
    bool all = true;
    for (Int r = 0; r < count; ++r) {
      const float* const row = p.a + (first + r) * p.call.lhs_row_stride;
      scale[r] = round_row(rounded + r * stride, row, p.call.depth);
      all = all && scale[r] >= 0;
    }
    const RoundedRows rows = {rounded, stride, scale, first};
    for (Int column = 0, panel = 0; column < p.call.columns; column += kColumns, ++panel) {
      const Int columns = smaller(kColumns, p.call.columns - column);
      Int done = multiply_rounded_rows<8>(p, rows, 0, count, panel, columns);
      done = multiply_rounded_rows<4>(p, rows, done, count, panel, columns);
      done = multiply_rounded_rows<2>(p, rows, done, count, panel, columns);
      multiply_rounded_rows<1>(p, rows, done, count, panel, columns);
    }
    for (Int r = 0; !all && r < count; ++r) {
      if (scale[r] < 0) multiply_plain_row(p, first + r);
    }
  }
}

}  // namespace

#endif
