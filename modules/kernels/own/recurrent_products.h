// SPDX-License-Identifier: Apache-2.0
// The sums of a tile of recurrent.h, and the products that are added to them.
#pragma once

#include "gemm.h"
#include "tile.h"

namespace {

constexpr Int kPanel = kPanelColumns<float>;

// Rows of a tile: as many as leave registers for the factors.
constexpr int kTileRows = TFAOT_VECTOR_REGISTERS == 32 ? 6 : 2;
// Where a panel is one vector, recurrent_row.h has a row alone.
constexpr bool kHasRowBlocks = kVectorsPerPanel == 1;
// A row alone takes two vectors of each gate at a time, where a panel has as many: every sum waits
// for the step before.
constexpr int wide_of(int rows) { return rows == 1 && kVectorsPerPanel > 1 ? 2 : 1; }

// The sums of a tile: [row][sum][column].
template <typename Cell>
constexpr Int kRowSums = Cell::kSums* kPanel;

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

template <typename Cell, bool kOfState, int MR, int NV>
TFAOT_INLINE void add_step(Floats (&sums)[MR][NV], const float* const (&a)[MR], Int k,
                           const float* b) {
  constexpr int kWide = wide_of(MR);
  constexpr int kVectors = Cell::kGates * kWide;
  Floats right[kVectors];
  TFAOT_UNROLL
  for (int i = 0; i < kVectors; ++i) {
    right[i] = load(b + i / kWide * kPanel + i % kWide * kLanes<float>);
  }
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) {
    TFAOT_UNROLL
    for (int i = 0; i < kVectors; ++i) {
      sums[r][Cell::sum_of(i / kWide, kOfState) * kWide + i % kWide] += right[i] * a[r][k];
    }
  }
}

// Adds the products of one side; returns where its weights end.
template <typename Cell, bool kOfState, int N, int MR, int NV>
TFAOT_INLINE const float* add_side(Floats (&sums)[N][MR][NV], const RecurrentSide& side,
                                   const float* b) {
  constexpr Int kStep = Cell::kGates * kPanel;
  const float* rows[MR];
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) rows[r] = side.first + r * side.row_step;
  Int k = 0;
  for (; k + N <= side.depth; k += N) {
    TFAOT_UNROLL
    for (int p = 0; p < N; ++p, b += kStep) add_step<Cell, kOfState>(sums[p], rows, k + p, b);
  }
  if constexpr (N > 1) {
    for (; k < side.depth; ++k, b += kStep) add_step<Cell, kOfState>(sums[0], rows, k, b);
  }
  return b;
}

// The sums of a tile of MR rows: they stay in registers from the first of them to the last.
template <typename Cell, int MR>
__attribute__((noinline)) void add_products(float* tile, const TileProducts& products) {
  constexpr int kWide = wide_of(MR);
  constexpr int kVectors = Cell::kSums * kWide;
  constexpr int kParts = sums_per_element(MR * Cell::kGates * kWide);
  const auto place = [](int row, int i, Int first) __attribute__((always_inline)) {
    return row * kRowSums<Cell> + i / kWide * kPanel + first + i % kWide * kLanes<float>;
  };
  for (Int first = 0; first < kPanel; first += kWide * kLanes<float>) {
    Floats sums[kParts][MR][kVectors] = {};
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) {
      TFAOT_UNROLL
      for (int i = 0; i < kVectors; ++i) {
        sums[0][r][i] =
            products.bias == nullptr
                ? load(tile + place(r, i, first))
                : start_of<Cell>(products, r, i / kWide, first + i % kWide * kLanes<float>);
      }
    }
    const float* b = products.weights + first;
    if (products.input.depth != 0) b = add_side<Cell, false>(sums, products.input, b);
    add_side<Cell, true>(sums, products.state, b);
    TFAOT_UNROLL
    for (int half = kParts / 2; half > 0; half /= 2) {
      TFAOT_UNROLL
      for (int p = 0; p < half; ++p) {
        TFAOT_UNROLL
        for (int i = 0; i < MR * kVectors; ++i) {
          sums[p][i / kVectors][i % kVectors] += sums[p + half][i / kVectors][i % kVectors];
        }
      }
    }
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) {
      TFAOT_UNROLL
      for (int i = 0; i < kVectors; ++i) store(tile + place(r, i, first), sums[0][r][i]);
    }
  }
}

// REQUIRES: rows <= kTileRows, and at least one, or two if a row alone has its own products.
template <typename Cell, int MR = kTileRows>
TFAOT_INLINE void add_products_of(int rows, float* tile, const TileProducts& products) {
  if (rows == MR) return add_products<Cell, MR>(tile, products);
  if constexpr (MR > (kHasRowBlocks ? 2 : 1)) add_products_of<Cell, MR - 1>(rows, tile, products);
}

}  // namespace
