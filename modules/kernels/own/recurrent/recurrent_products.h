// SPDX-License-Identifier: Apache-2.0
// The sums of a tile of recurrent.h, and the products that are added to them.
#pragma once

#include "recurrent/recurrent_vectors.h"

namespace {

// Rows of a tile: as many as leave registers for the factors.
constexpr int kTileRows = TFAOT_VECTOR_REGISTERS == 32 ? 6 : 2;
// Where a panel is one vector, recurrent_row.h has a row alone.
constexpr bool kHasRowBlocks = kVectorsPerPanel == 1;
// A row alone takes two vectors of each gate at a time, where a panel has as many: every sum waits
// for the step before.
constexpr int wide_of(int rows, bool half_panels) {
  return rows == 1 && kVectorsPerPanel > (half_panels ? 2 : 1) ? 2 : 1;
}

// Rows of numbers, `row_step` apart.
struct RecurrentSide {
  const float* first;
  Int row_step, depth;
};

struct TileProducts {
  const float* bias;      // the sums begin with it; null: the tile has what they begin with
  const float* added;     // of the first row, columns that come to the bias; null: none
  const Int* added_gate;  // where a gate's are
  RecurrentSide input, state;
  const float* weights;  // of the input, then of the state
};

template <typename Cell>
TFAOT_INLINE Floats start_of(const TileProducts& p, int row, int sum, Int column) {
  const Floats bias = load(p.bias + sum * kPanel + column);
  if (p.added == nullptr || sum >= Cell::kInputs) return bias;
  const float* const x = p.added + row * p.input.row_step + p.added_gate[Cell::gate_of(sum)];
  return bias + load(x + Cell::panel_of(sum) * kPanel + column);
}

template <typename Vectors, bool kOfState, int MR, int NV>
TFAOT_INLINE void add_step(Floats (&sums)[MR][NV], const float* const (&a)[MR], Int k,
                           const float* b) {
  Floats right[Vectors::kWeights];
  TFAOT_UNROLL
  for (int i = 0; i < Vectors::kWeights; ++i) {
    right[i] = Vectors::template weights<kOfState>(b, i);
  }
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) {
    TFAOT_UNROLL
    for (int i = 0; i < Vectors::kWeights; ++i) {
      sums[r][Vectors::template sum_of<kOfState>(i)] += right[i] * a[r][k];
    }
  }
}

// Adds the products of one side; returns where its weights end.
template <typename Vectors, bool kOfState, int N, int MR, int NV>
TFAOT_INLINE const float* add_side(Floats (&sums)[N][MR][NV], const RecurrentSide& side,
                                   const float* b) {
  constexpr Int kStep = Vectors::kElements;
  const float* rows[MR];
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) rows[r] = side.first + r * side.row_step;
  Int k = 0;
  for (; k + N <= side.depth; k += N) {
    TFAOT_UNROLL
    for (int p = 0; p < N; ++p, b += kStep) add_step<Vectors, kOfState>(sums[p], rows, k + p, b);
  }
  if constexpr (N > 1) {
    for (; k < side.depth; ++k, b += kStep) add_step<Vectors, kOfState>(sums[0], rows, k, b);
  }
  return b;
}

// The sums of a tile of MR rows: they stay in registers from the first of them to the last.
template <typename Cell, bool kHalf, int MR>
__attribute__((noinline)) void add_products(float* tile, const TileProducts& products) {
  constexpr int kWide = wide_of(MR, kHalf && has_half_panels<Cell>);
  using Vectors = StepVectors<Cell, kHalf, kWide>;
  constexpr int kParts = sums_per_element(MR * Vectors::kWeights);
  for (Int first = 0; first < Vectors::kColumns; first += kWide * kLanes<float>) {
    Floats sums[kParts][MR][Vectors::kSums] = {};
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) {
      TFAOT_UNROLL
      for (int i = 0; i < Vectors::kSums; ++i) {
        const auto start = [&](int sum, Int column) __attribute__((always_inline)) {
          return products.bias == nullptr ? load(tile + r * kRowSums<Cell> + sum * kPanel + column)
                                          : start_of<Cell>(products, r, sum, column);
        };
        sums[0][r][i] = Vectors::sum(i, first, start);
      }
    }
    const float* b = products.weights + first;
    if (products.input.depth != 0) b = add_side<Vectors, false>(sums, products.input, b);
    add_side<Vectors, true>(sums, products.state, b);
    TFAOT_UNROLL
    for (int half = kParts / 2; half > 0; half /= 2) {
      TFAOT_UNROLL
      for (int p = 0; p < half; ++p) {
        TFAOT_UNROLL
        for (int i = 0; i < MR * Vectors::kSums; ++i) {
          const int r = i / Vectors::kSums, s = i % Vectors::kSums;
          sums[p][r][s] += sums[p + half][r][s];
        }
      }
    }
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) {
      TFAOT_UNROLL
      for (int i = 0; i < Vectors::kSums; ++i) {
        Vectors::put(tile + r * kRowSums<Cell>, i, first, sums[0][r][i]);
      }
    }
  }
}

// `which`: the number of rows, and kTileRows more for a half block. REQUIRES: rows <= kTileRows,
// and at least one, or two if a row alone has its own products.
template <typename Cell, int kWhich = 2 * kTileRows>
TFAOT_INLINE void add_products_of(int which, float* tile, const TileProducts& products) {
  constexpr bool kHalf = kWhich > kTileRows;
  constexpr int kRows = kHalf ? kWhich - kTileRows : kWhich;
  constexpr bool kIsUsed = kRows > (kHasRowBlocks ? 1 : 0);
  if constexpr (kIsUsed) {
    if (which == kWhich) return add_products<Cell, kHalf, kRows>(tile, products);
  }
  if constexpr (kWhich > 1) add_products_of<Cell, kWhich - 1>(which, tile, products);
}

}  // namespace
