// SPDX-License-Identifier: Apache-2.0
// What becomes of a tile of recurrent.h before and after its products: bias and the input's
// products, then the gates and the next state.
#pragma once

#include "recurrent/recurrent_products.h"
#include "simd/lanes.h"

namespace {

using tfaot::kernels::ends_in_half_block;
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

  // What a tile begins with; `x`: of its first row. Into the tile itself, if columns of the
  // products with the input end within a vector.
  TileProducts begin(float* tile, const float* x, Int block, int rows) const {
    const float* const bias = bias_ + block * kRowSums<Cell>;
    TileProducts products = {bias, nullptr, call_.x_gate, {x, call_.x_row, call_.features}, {}, {}};
    if (call_.features != 0) return products;
    if ((block + 1) * kColumns <= call_.hidden) {
      products.added = x + block * kColumns;
      return products;
    }
    products.bias = nullptr;
    for (int r = 0; r < rows; ++r, x += call_.x_row, tile += kRowSums<Cell>) {
      begin_row<false>(tile, x, block);
    }
    return products;
  }

  // Of one row, into the tile. kWhole: the state has all columns of the block.
  template <bool kWhole>
  TFAOT_INLINE void begin_row(float* tile, const float* x, Int block) const {
    const float* const bias = bias_ + block * kRowSums<Cell>;
    TFAOT_UNROLL
    for (int s = 0; s < Cell::kSums; ++s) {
      const Int panel = block * kColumns + Cell::panel_of(s) * kPanel;
      TFAOT_UNROLL
      for (Int j = 0; j < kPanel; j += kLanes<float>) {
        Floats sum = load(bias + s * kPanel + j);
        const Int count = kWhole ? kLanes<float> : columns_from(panel + j);
        if (call_.features == 0 && s < Cell::kInputs && count > 0) {
          sum += load_some(x + call_.x_gate[Cell::gate_of(s)] + panel + j, count);
        }
        store(tile + s * kPanel + j, sum);
      }
    }
  }

  // The next state, and with `out` a row of the result. In two passes over the rows, with few
  // instructions each: a row's gates wait for each other, and the CPU looks ahead only so far.
  // kHalf: the state has no columns in the block's second half.
  template <bool kWhole, bool kHalf>
  TFAOT_INLINE void end(float* tile, const RecurrentState& state, float* out, Int block,
                        int rows) const {
    constexpr Int kCount = kHalf ? kColumns / 2 : kColumns;
    if (Cell::kPrepares) {
      each_vector<kCount>(
          tile, state, block, rows,
          [](float* sums, Int /*column*/, const auto& at) { Cell::prepare(sums, at.memory); });
    }
    each_vector<kCount>(tile, state, block, rows,
                        [&](const float* sums, Int column, const auto& at) {
                          const Floats h = Cell::next(call_, sums, at.before, at.memory);
                          store(at.after, h);
                          if (out == nullptr) return;
                          float* const to = out + at.row * call_.out_row + column;
                          const Int count = kWhole ? kLanes<float> : columns_from(column);
                          if (count > 0) store_some(to, h, count);
                        });
  }

 private:
  // Of a vector of columns of a row.
  struct Place {
    int row;
    const float* before;
    float* after;
    float* memory;
  };

  // use(the first of its sums, column, place) for each vector of a tile's first kCount columns.
  template <Int kCount, typename Use>
  TFAOT_INLINE void each_vector(float* tile, const RecurrentState& state, Int block, int rows,
                                const Use& use) const {
    constexpr int kPanels = kCount > kPanel ? kCount / kPanel : 1;
    constexpr Int kOfPanel = kCount / kPanels;
    for (int r = 0; r < rows; ++r, tile += kRowSums<Cell>) {
      TFAOT_UNROLL
      for (int panel = 0; panel < kPanels; ++panel) {
        TFAOT_UNROLL
        for (Int j = 0; j < kOfPanel; j += kLanes<float>) {
          const Int column = block * kColumns + panel * kPanel + j;
          const Int at = r * state.width + column;
          use(tile + (Cell::kPanels > 1 ? panel * kPanel : 0) + j, column,
              Place{r, state.before + at, state.after + at, state.memory + at});
        }
      }
    }
  }

  // How many of a vector's columns there are.
  TFAOT_INLINE Int columns_from(Int column) const {
    return smaller(kLanes<float>, call_.hidden - column);
  }

  const RecurrentCall& call_;
  const float* bias_;
};

}  // namespace
