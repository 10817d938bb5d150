// SPDX-License-Identifier: Apache-2.0
// The products of several blocks at a time with a row alone (recurrent_row.h).
#pragma once

#include "recurrent/recurrent_products.h"

namespace {

// B blocks; with kHalf the last of them is half.
template <typename Cell, int B, bool kHalf>
struct RowBlocks {
  using Whole = StepVectors<Cell, false>;
  using Half = StepVectors<Cell, true>;
  static constexpr int kWhole = kHalf ? B - 1 : B;
  static constexpr int kWeights = kWhole * Whole::kWeights + (kHalf ? Half::kWeights : 0);

  // use(block, its vectors) for each.
  template <typename Use>
  static TFAOT_INLINE void each(const Use& use) {
    TFAOT_UNROLL
    for (int i = 0; i < kWhole; ++i) use(i, Whole());
    if constexpr (kHalf) use(kWhole, Half());
  }
  static constexpr Int elements_of(int block) {  // in a step
    return block < kWhole ? Whole::kElements : Half::kElements;
  }
};

// Adds the products of one side; `weights`: where they begin for each block. N sums for each: few
// blocks would wait for the step before. Much state is read in turns that are so long that an
// instruction reads weights of another page each time (row_input.h).
template <typename Cell, bool kHalf, bool kOfState, int N, int B>
TFAOT_INLINE void add_row_side(Floats (&sums)[N][B][Cell::kSums], const RecurrentSide& side,
                               const float* const (&weights)[B], bool back) {
  using Blocks = RowBlocks<Cell, B, kHalf>;
  const Int whole = side.depth - side.depth % N;
  const Int first = back ? whole - N : 0, next = back ? -N : N;
  const float* a = side.first + first;
  const float* right[B];
  TFAOT_UNROLL
  for (int i = 0; i < B; ++i) right[i] = weights[i] + first * Blocks::elements_of(i);
  const auto add = [&](Floats(&to)[B][Cell::kSums], Int k) __attribute__((always_inline)) {
    Blocks::each([&](int block, auto vectors) __attribute__((always_inline)) {
      using Vectors = decltype(vectors);
      TFAOT_UNROLL
      for (int i = 0; i < Vectors::kWeights; ++i) {
        to[block][Vectors::template sum_of<kOfState>(i)] +=
            Vectors::template weights<kOfState>(right[block] + k * Vectors::kElements, i) * a[k];
      }
    });
  };
  const auto go_on = [&](Int steps) __attribute__((always_inline)) {
    a += steps;
    TFAOT_UNROLL
    for (int i = 0; i < B; ++i) {
      right[i] += steps * Blocks::elements_of(i);
      asm("" : "+r"(right[i]));  // else the compiler keeps a register for each of their vectors
    }
  };
  Int left = whole;
  if constexpr (kOfState && B > 2) {
    constexpr int kTurn = Cell::kGates > 3 ? 16 : 32;
    constexpr Int kMostNear = 48;  // whose weights stay in the first-level cache
    for (; side.depth > kMostNear && left >= kTurn; left -= kTurn) {
      TFAOT_UNROLL
      for (int i = 0; i < kTurn; ++i) {
        add(sums[i % N], i % N);
        if (i % N == N - 1) go_on(next);
      }
    }
  }
  for (; left > 0; left -= N) {
    TFAOT_UNROLL
    for (int p = 0; p < N; ++p) add(sums[p], p);
    go_on(next);
  }
  if constexpr (N > 1) {
    if (back) go_on(whole + N);
    for (left = side.depth - whole; left > 0; --left, go_on(1)) add(sums[0], 0);
  }
}

// To what the sums begin with. tile: [block][sum][column]. `weights`: of the first block; the next
// block's begin block_step later.
template <typename Cell, int B, bool kHalf>
TFAOT_INLINE void add_products_of_row(float* tile, const RecurrentSide& input,
                                      const RecurrentSide& state, const float* weights,
                                      Int block_step, bool back) {
  using Blocks = RowBlocks<Cell, B, kHalf>;
  // With a half block one more: for three vectors, four sums each would take longer to join than
  // they save.
  constexpr int kParts = sums_per_element(Blocks::kWeights + (kHalf ? 1 : 0));
  Floats sums[kParts][B][Cell::kSums] = {};
  Blocks::each([&](int block, auto vectors) __attribute__((always_inline)) {
    const auto start = [&](int sum, Int column) __attribute__((always_inline)) {
      return load(tile + block * kRowSums<Cell> + sum * kPanel + column);
    };
    TFAOT_UNROLL
    for (int i = 0; i < vectors.kSums; ++i) sums[0][block][i] = vectors.sum(i, 0, start);
  });
  const float* of_input[B];
  const float* of_state[B];
  TFAOT_UNROLL
  for (int i = 0; i < B; ++i) {
    of_input[i] = weights + i * block_step;
    of_state[i] = of_input[i] + input.depth * Blocks::elements_of(i);
  }
  if (input.depth != 0) add_row_side<Cell, kHalf, false>(sums, input, of_input, back);
  add_row_side<Cell, kHalf, true>(sums, state, of_state, back);
  Blocks::each([&](int block, auto vectors) __attribute__((always_inline)) {
    TFAOT_UNROLL
    for (int half = kParts / 2; half > 0; half /= 2) {
      TFAOT_UNROLL
      for (int i = 0; i < half * vectors.kSums; ++i) {
        const int part = i / vectors.kSums, sum = i % vectors.kSums;
        sums[part][block][sum] += sums[part + half][block][sum];
      }
    }
    TFAOT_UNROLL
    for (int i = 0; i < vectors.kSums; ++i) {
      vectors.put(tile + block * kRowSums<Cell>, i, 0, sums[0][block][i]);
    }
  });
}

}  // namespace
