// SPDX-License-Identifier: Apache-2.0
// Recurrent layers (abi.h): all steps of some rows, then of the next rows, so that the state stays
// in the first caches. A tile is a few rows by one block of the state's columns, with all gates of
// them: its sums become the next state as soon as they are made, and no tensor of gates is written.
//
// A Cell has
//   kGates    vectors of weights to a block (per vector of the state's columns)
//   kSums     sums; the first kInputs of them begin with a column of the step's products
//   kPanels   how many panels of the state's columns a block has
//   sum_of()  which sum a gate's products with the state (or with the input) belong to
//   kMemory   whether it has a second state
//   next()    the new state of the sums
#pragma once

#include "activations.h"
#include "gemm.h"
#include "tile.h"

namespace {

using tfaot::kernels::RecurrentCall;

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

template <typename Cell>
class Recurrence {
 public:
  Recurrence(const RecurrentCall& call, const void** in, void* const* out)
      : call_(call),
        x_(static_cast<const float*>(in[1])),
        weights_(static_cast<const float*>(in[2])),
        bias_(static_cast<const float*>(in[3])),
        first_(static_cast<const float*>(in[4])),
        first_memory_(Cell::kMemory ? static_cast<const float*>(in[5]) : nullptr),
        result_(static_cast<float*>(out[0])),
        width_(tfaot::kernels::recurrent_width(call, kPanel)),
        block_rows_(tfaot::kernels::recurrent_block_rows(call, kPanel)),
        before_(static_cast<float*>(out[1])),
        after_(before_ + block_rows_ * width_),
        memory_(after_ + block_rows_ * width_) {}

  void run(Int rows) {
    for (Int row = 0; row < rows; row += block_rows_) {
      run_rows(row, smaller(block_rows_, rows - row));
    }
  }

 private:
  static constexpr Int kColumns = Cell::kPanels * kPanel;

  void run_rows(Int first, Int rows) {
    for (Int r = 0; r < rows; ++r) {
      take_state(before_ + r * width_, first_ + (first + r) * call_.hidden);
      if (Cell::kMemory) {
        take_state(memory_ + r * width_, first_memory_ + (first + r) * call_.hidden);
      }
    }
    for (Int step = 0; step < call_.steps; ++step) {
      const float* const x = x_ + call_.x_start + step * call_.x_step + first * call_.x_row;
      float* out = nullptr;
      if (call_.keeps_all != 0 || step == call_.steps - 1) {
        const Int place = call_.keeps_all != 0 ? step * call_.out_step : 0;
        out = result_ + call_.out_start + place + first * call_.out_row;
      }
      const Int blocks = ceil_div(call_.hidden, kColumns);
      for (Int i = 0; i < blocks; ++i) {
        // To and fro: the weights that came last are still in the caches.
        const Int block = step % 2 == 0 ? i : blocks - 1 - i;
        for (Int row = 0; row < rows;) {
          // As even as possible.
          const Int left = rows - row;
          const Int count = ceil_div(left, ceil_div(left, kTileRows));
          run_tile(x, out, block, row, static_cast<int>(count));
          row += count;
        }
      }
      float* const made = after_;
      after_ = before_;
      before_ = made;
    }
    if (Cell::kMemory && call_.memory_out >= 0) {
      for (Int r = 0; r < rows; ++r) {
        copy_elements(result_ + call_.memory_out + (first + r) * call_.hidden, memory_ + r * width_,
                      call_.hidden);
      }
    }
  }

  // Of one row; zeros beyond its columns.
  void take_state(float* to, const float* from) const {
    __builtin_memset(to + width_ - 2 * kPanel, 0, 2 * kPanel * sizeof(float));
    copy_elements(to, from, call_.hidden);
  }

  void run_tile(const float* x, float* out, Int block, Int row, int rows) {
    float tile[kTileRows * kRowSums<Cell>];
    begin(tile, x + row * call_.x_row, block, rows);
    const float* weights =
        weights_ + block * (call_.features + call_.hidden) * Cell::kGates * kPanel;
    if (call_.features != 0) {
      add_products_of<Cell, false>(rows, tile, x + row * call_.x_row, call_.x_row, call_.features,
                                   weights);
      weights += call_.features * Cell::kGates * kPanel;
    }
    add_products_of<Cell, true>(rows, tile, before_ + row * width_, width_, call_.hidden, weights);
    end(tile, out == nullptr ? nullptr : out + row * call_.out_row, block, row, rows);
  }

  // How many of a vector's columns there are.
  TFAOT_INLINE Int columns_from(Int column) const {
    return smaller(kLanes<float>, call_.hidden - column);
  }

  void begin(float* tile, const float* x, Int block, int rows) const {
    const float* const bias = bias_ + block * kRowSums<Cell>;
    for (int r = 0; r < rows; ++r, x += call_.x_row, tile += kRowSums<Cell>) {
      TFAOT_UNROLL
      for (int s = 0; s < Cell::kSums; ++s) {
        const Int panel = block * kColumns + Cell::panel_of(s) * kPanel;
        TFAOT_UNROLL
        for (Int j = 0; j < kPanel; j += kLanes<float>) {
          Floats sum = load(bias + s * kPanel + j);
          if (call_.features == 0 && s < Cell::kInputs) {
            const float* const from = x + call_.x_gate[Cell::gate_of(s)] + panel + j;
            const Int count = columns_from(panel + j);
            if (count == kLanes<float>) {
              sum += load(from);
            } else if (count > 0) {
              sum += load_first(from, count);
            }
          }
          store(tile + s * kPanel + j, sum);
        }
      }
    }
  }

  void end(const float* tile, float* out, Int block, Int row, int rows) {
    for (int r = 0; r < rows; ++r, tile += kRowSums<Cell>) {
      const Int place = (row + r) * width_;
      TFAOT_UNROLL
      for (int panel = 0; panel < Cell::kPanels; ++panel) {
        TFAOT_UNROLL
        for (Int j = 0; j < kPanel; j += kLanes<float>) {
          const Int column = block * kColumns + panel * kPanel + j;
          Floats sums[Cell::kSums];
          TFAOT_UNROLL
          for (int s = 0; s < Cell::kSums; ++s) sums[s] = load(tile + s * kPanel + j);
          Floats memory = {};
          if (Cell::kMemory) memory = load(memory_ + place + column);
          const Floats h = Cell::next(call_, sums, panel, load(before_ + place + column), memory);
          if (Cell::kMemory) store(memory_ + place + column, memory);
          store(after_ + place + column, h);
          if (out == nullptr) continue;
          const Int count = columns_from(column);
          if (count == kLanes<float>) {
            store(out + r * call_.out_row + column, h);
          } else if (count > 0) {
            store_first(out + r * call_.out_row + column, h, count);
          }
        }
      }
    }
  }

  const RecurrentCall& call_;
  const float* x_;
  const float* weights_;
  const float* bias_;
  const float* first_;
  const float* first_memory_;
  float* result_;
  Int width_, block_rows_;  // of the state as it is kept here
  float* before_;
  float* after_;
  float* memory_;
};

// How many rows count in a padded batch; `last`: the operand that says it.
TFAOT_INLINE Int live_rows(const RecurrentCall& call, const void** in, int last) {
  if (call.live_rows == 0) return call.rows;
  return smaller(call.rows, call.live_rows * *static_cast<const Int*>(in[last]));
}

}  // namespace
