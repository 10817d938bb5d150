// SPDX-License-Identifier: Apache-2.0
// What becomes of a tile of recurrent.h before and after its products: bias and the input's
// products, then the gates and the next state.
#pragma once

#include "activations.h"
#include "recurrent_products.h"

namespace {

using tfaot::kernels::RecurrentCall;

// Of the rows of a tile, `width` elements apart.
struct RecurrentState {
  const float* before;
  float* after;
  float* memory;
  Int width;
};

template <typename Cell>
class RecurrentGates {
 public:
  static constexpr Int kColumns = Cell::kPanels * kPanel;  // of a block

  RecurrentGates(const RecurrentCall& call, const float* bias) : call_(call), bias_(bias) {}

  // `x`: of the tile's first row.
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

  // The next state, and with `out` a row of the result.
  void end(const float* tile, const RecurrentState& state, float* out, Int block, int rows) const {
    for (int r = 0; r < rows; ++r, tile += kRowSums<Cell>) {
      const Int place = r * state.width;
      TFAOT_UNROLL
      for (int panel = 0; panel < Cell::kPanels; ++panel) {
        TFAOT_UNROLL
        for (Int j = 0; j < kPanel; j += kLanes<float>) {
          const Int column = block * kColumns + panel * kPanel + j;
          Floats sums[Cell::kSums];
          TFAOT_UNROLL
          for (int s = 0; s < Cell::kSums; ++s) sums[s] = load(tile + s * kPanel + j);
          Floats memory = {};
          if (Cell::kMemory) memory = load(state.memory + place + column);
          const Floats h =
              Cell::next(call_, sums, panel, load(state.before + place + column), memory);
          if (Cell::kMemory) store(state.memory + place + column, memory);
          store(state.after + place + column, h);
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

 private:
  // How many of a vector's columns there are.
  TFAOT_INLINE Int columns_from(Int column) const {
    return smaller(kLanes<float>, call_.hidden - column);
  }

  const RecurrentCall& call_;
  const float* bias_;
};

}  // namespace
