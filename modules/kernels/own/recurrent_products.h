// SPDX-License-Identifier: Apache-2.0
// The sums of a tile of recurrent.h, and the products that are added to them.
#pragma once

#include "gemm.h"
#include "tile.h"

namespace {

constexpr Int kPanel = kPanelColumns<float>;

// Rows of a tile: as many as leave registers for the factors.
constexpr int kTileRows = TFAOT_VECTOR_REGISTERS == 32 ? 6 : 2;
// A row alone takes two vectors of each gate at a time, where a panel has as many: every sum waits
// for the step before.
constexpr int wide_of(int rows) { return rows == 1 && kVectorsPerPanel > 1 ? 2 : 1; }

// The sums of a tile: [row][sum][column].
template <typename Cell>
constexpr Int kRowSums = Cell::kSums* kPanel;

template <int MR, int NV>
TFAOT_INLINE void add_step(Floats (&sums)[MR][NV], const float* const (&a)[MR], Int k,
                           const float* b, Int wide) {
  Floats right[NV];
  TFAOT_UNROLL
  for (int i = 0; i < NV; ++i) right[i] = load(b + i / wide * kPanel + i % wide * kLanes<float>);
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) {
    TFAOT_UNROLL
    for (int i = 0; i < NV; ++i) sums[r][i] += right[i] * a[r][k];
  }
}

// Adds the products of MR rows, `row_step` apart, with a block of weights to a tile's sums.
template <typename Cell, int MR, bool kOfState>
__attribute__((noinline)) void add_products(float* tile, const float* a, Int row_step, Int depth,
                                            const float* weights) {
  constexpr int kWide = wide_of(MR);
  constexpr int kVectors = Cell::kGates * kWide;
  constexpr int kParts = sums_per_element(MR * kVectors);
  constexpr Int kStep = Cell::kGates * kPanel;
  const float* rows[MR];
  TFAOT_UNROLL
  for (int r = 0; r < MR; ++r) rows[r] = a + r * row_step;
  for (Int first = 0; first < kPanel; first += kWide * kLanes<float>) {
    float* to[MR][kVectors];
    Floats sums[kParts][MR][kVectors] = {};
    TFAOT_UNROLL
    for (int r = 0; r < MR; ++r) {
      TFAOT_UNROLL
      for (int i = 0; i < kVectors; ++i) {
        to[r][i] = tile + r * kRowSums<Cell> + Cell::sum_of(i / kWide, kOfState) * kPanel + first +
                   i % kWide * kLanes<float>;
        sums[0][r][i] = load(to[r][i]);
      }
    }
    const float* b = weights + first;
    Int k = 0;
    for (; k + kParts <= depth; k += kParts) {
      TFAOT_UNROLL
      for (int p = 0; p < kParts; ++p, b += kStep) add_step(sums[p], rows, k + p, b, kWide);
    }
    if constexpr (kParts > 1) {
      for (; k < depth; ++k, b += kStep) add_step(sums[0], rows, k, b, kWide);
    }
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
      for (int i = 0; i < kVectors; ++i) store(to[r][i], sums[0][r][i]);
    }
  }
}

template <typename Cell, bool kOfState>
TFAOT_INLINE void add_products_of(int rows, float* tile, const float* a, Int row_step, Int depth,
                                  const float* weights) {
  switch (rows) {
    case 1:
      return add_products<Cell, 1, kOfState>(tile, a, row_step, depth, weights);
    case 2:
      return add_products<Cell, 2, kOfState>(tile, a, row_step, depth, weights);
    case 3:
      if constexpr (kTileRows >= 3) {
        return add_products<Cell, 3, kOfState>(tile, a, row_step, depth, weights);
      }
      break;
    case 4:
      if constexpr (kTileRows >= 4) {
        return add_products<Cell, 4, kOfState>(tile, a, row_step, depth, weights);
      }
      break;
    case 5:
      if constexpr (kTileRows >= 5) {
        return add_products<Cell, 5, kOfState>(tile, a, row_step, depth, weights);
      }
      break;
    case 6:
      if constexpr (kTileRows >= 6) {
        return add_products<Cell, 6, kOfState>(tile, a, row_step, depth, weights);
      }
      break;
    default:
      break;
  }
  __builtin_unreachable();
}

}  // namespace
