// SPDX-License-Identifier: Apache-2.0
// Recurrent layers (abi.h): all steps of some rows, then of the next rows, so that the state stays
// in the first caches. A tile is a few rows by one block of the state's columns, with all gates of
// them: its sums become the next state as soon as they are computed, and no tensor of gates is
// written. Slower: both directions together (their weights do not fit into the L1 cache), a tile's
// gates between the products of the next, prefetching the next weights.
//
// A Cell has
//   kGates    vectors of weights to a block (per vector of the state's columns)
//   kSums     sums; the first kInputs of them begin with a column of the step's products
//   kPanels   how many panels of the state's columns a block has
//   sum_of()  the sum that a gate's products with the state (or with the input) belong to
//   kMemory   true if it has a second state
//   next()    the new state of the sums of a vector of columns
//   prepare() a part of that which is done for all rows first, into sums and memory; if kPrepares
#pragma once

#include "recurrent/recurrent_products.h"
#include "simd/functions.h"

namespace {

using tfaot::kernels::ends_in_half_block;
using tfaot::kernels::RecurrentCall;

// The states of the rows of a tile, `width` elements apart.
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

  // The first values of a tile; `x`: of its first row. They are written into the tile if columns of
  // the products with the input end within a vector.
  TileProducts begin(float* tile, const float* x, Int block, int rows) const {
    const float* const bias = bias_ + block * kSumsOfRow<Cell>;
    TileProducts products = {bias, nullptr, call_.x_gate, {x, call_.x_row, call_.features}, {}, {}};
    if (call_.features != 0) return products;
    if ((block + 1) * kColumns <= call_.hidden) {
      products.added = x + block * kColumns;
      return products;
    }
    products.bias = nullptr;
    for (int r = 0; r < rows; ++r, x += call_.x_row, tile += kSumsOfRow<Cell>) {
      begin_row<false>(tile, x, block);
    }
    return products;
  }

  // Writes those of one row into the tile. kWhole: the state has all columns of the block.
  template <bool kWhole>
  TFAOT_INLINE void begin_row(float* tile, const float* x, Int block) const {
    const float* const bias = bias_ + block * kSumsOfRow<Cell>;
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

  // Computes the next state and, with `out`, a row of the result, in two passes over the rows with
  // few instructions each: a row's gates wait for each other, and the CPU looks ahead only so far.
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
  // The place of a vector of columns of a row.
  struct Place {
    int row;
    const float* before;
    float* after;
    float* memory;
  };

  // Calls use(the first of its sums, column, place) for each vector of a tile's first kCount
  // columns.
  template <Int kCount, typename Use>
  TFAOT_INLINE void each_vector(float* tile, const RecurrentState& state, Int block, int rows,
                                const Use& use) const {
    constexpr int kPanels = kCount > kPanel ? kCount / kPanel : 1;
    constexpr Int kOfPanel = kCount / kPanels;
    for (int r = 0; r < rows; ++r, tile += kSumsOfRow<Cell>) {
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

  // The columns of a vector that exist.
  TFAOT_INLINE Int columns_from(Int column) const {
    return smaller(kLanes<float>, call_.hidden - column);
  }

  const RecurrentCall& call_;
  const float* bias_;
};

// A row alone, where a panel is one vector: several blocks of the state's columns share each number
// of the row, and their gates do not wait for each other. All their sums stay in registers until
// they are the next state.

// Blocks at a time: an lstm's sums take 16 registers.
constexpr int kRowBlocks = 4;

struct RecurrentRow {
  RecurrentSide input, before;
  RecurrentState state;
  const float* weights;
  float* out;  // null: the state is not kept
  bool back;   // from the last of the weights to the first
  bool half;   // true if the last block is half
};

// Computes B blocks from `first` on. Arguments are copies: the compiler must assume that a store
// changes what is referred to.
template <typename Cell, int B, bool kHalf>
__attribute__((noinline)) void run_blocks(const RecurrentGates<Cell> gates, const RecurrentRow row,
                                          Int first) {
  float tile[B * kSumsOfRow<Cell>];
  TFAOT_UNROLL
  for (int i = 0; i < B - 1; ++i) {
    gates.template begin_row<true>(tile + i * kSumsOfRow<Cell>, row.input.first, first + i);
  }
  gates.template begin_row<false>(tile + (B - 1) * kSumsOfRow<Cell>, row.input.first,
                                  first + B - 1);
  const Int block_step = (row.input.depth + row.before.depth) * Cell::kGates * kPanel;
  add_products_of_row<Cell, B, kHalf>(tile, row.input, row.before, row.weights + first * block_step,
                                      block_step, row.back);
  TFAOT_UNROLL
  for (int i = 0; i < B - 1; ++i) {
    gates.template end<true, false>(tile + i * kSumsOfRow<Cell>, row.state, row.out, first + i, 1);
  }
  gates.template end<false, kHalf>(tile + (B - 1) * kSumsOfRow<Cell>, row.state, row.out,
                                   first + B - 1, 1);
}

template <typename Cell, bool kHalf, int B = kRowBlocks>
TFAOT_INLINE void run_blocks_of(Int blocks, const RecurrentGates<Cell>& gates,
                                const RecurrentRow& row, Int first) {
  if (blocks == B) return run_blocks<Cell, B, kHalf>(gates, row, first);
  if constexpr (B > (kHalf ? 2 : 1)) run_blocks_of<Cell, kHalf, B - 1>(blocks, gates, row, first);
}

// Computes one step, some blocks at a time, as even as possible.
template <typename Cell>
TFAOT_INLINE void run_row_of(const RecurrentGates<Cell>& gates, const RecurrentRow& row,
                             Int blocks) {
  const Int groups = ceil_div(blocks, Int{kRowBlocks});
  for (Int i = 0; i < groups; ++i) {
    const Int group = row.back ? groups - 1 - i : i;
    const Int first = group * blocks / groups;
    const Int count = (group + 1) * blocks / groups - first;
    if (row.half && group == groups - 1) {
      run_blocks_of<Cell, true>(count, gates, row, first);
    } else {
      run_blocks_of<Cell, false>(count, gates, row, first);
    }
  }
}

template <typename Cell>
class Recurrence {
 public:
  Recurrence(const RecurrentCall& call, const void** in, void* const* out)
      : call_(call),
        x_(static_cast<const float*>(in[1])),
        weights_(static_cast<const float*>(in[2])),
        gates_(call, static_cast<const float*>(in[3])),
        first_(static_cast<const float*>(in[4])),
        first_memory_(Cell::kMemory ? static_cast<const float*>(in[5]) : nullptr),
        result_(static_cast<float*>(out[0])),
        width_(tfaot::kernels::recurrent_width(call, kPanel)),
        blocks_(ceil_div(call.hidden, kColumns)),
        whole_blocks_(blocks_ - (ends_in_half_block(call.hidden, kColumns) ? 1 : 0)),
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
  static constexpr Int kColumns = RecurrentGates<Cell>::kColumns;  // of a block

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
      const bool back = step % 2 != 0;
      if (kHasRowBlocks && rows == 1) {
        run_row(x, out, back);
      } else {
        run_tiles(x, out, rows, back);
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

  // Copies one row; zeros beyond its columns.
  void take_state(float* to, const float* from) const {
    __builtin_memset(to + width_ - 2 * kPanel, 0, 2 * kPanel * sizeof(float));
    copy_elements(to, from, call_.hidden);
  }

  // Steps go to and fro over the blocks: the weights used last are still in the caches.
  void run_tiles(const float* x, float* out, Int rows, bool back) {
    for (Int i = 0; i < blocks_; ++i) {
      const Int block = back ? blocks_ - 1 - i : i;
      for (Int row = 0; row < rows;) {
        // As even as possible.
        const Int left = rows - row;
        const Int count = ceil_div(left, ceil_div(left, kTileRows));
        run_tile(x, out, block, row, static_cast<int>(count));
        row += count;
      }
    }
  }

  void run_row(const float* x, float* out, bool back) const {
    const RecurrentRow row = {{x, call_.x_row, call_.features},
                              {before_, width_, call_.hidden},
                              {before_, after_, memory_, width_},
                              weights_,
                              out,
                              back,
                              whole_blocks_ < blocks_};
    run_row_of(gates_, row, blocks_);
  }

  void run_tile(const float* x, float* out, Int block, Int row, int rows) {
    float tile[kTileRows * kSumsOfRow<Cell>];
    TileProducts products = gates_.begin(tile, x + row * call_.x_row, block, rows);
    products.state = {before_ + row * width_, width_, call_.hidden};
    products.weights = weights_ + block * (call_.features + call_.hidden) * Cell::kGates * kPanel;
    const Int place = row * width_;
    const RecurrentState state = {before_ + place, after_ + place, memory_ + place, width_};
    if (out != nullptr) out += row * call_.out_row;
    add_products_of<Cell>(rows + (block < whole_blocks_ ? 0 : kTileRows), tile, products);
    // Also for a whole block that is the only one.
    if (kColumns > kLanes<float> && 2 * (call_.hidden - block * kColumns) <= kColumns) {
      gates_.template end<false, true>(tile, state, out, block, rows);
    } else {
      gates_.template end<false, false>(tile, state, out, block, rows);
    }
  }

  const RecurrentCall& call_;
  const float* x_;
  const float* weights_;
  RecurrentGates<Cell> gates_;
  const float* first_;
  const float* first_memory_;
  float* result_;
  Int width_;  // of the state as it is kept here
  Int blocks_, whole_blocks_, block_rows_;
  float* before_;
  float* after_;
  float* memory_;
};

// The number of rows that count in a padded batch; `last`: the operand that has it.
TFAOT_INLINE Int live_rows(const RecurrentCall& call, const void** in, int last) {
  if (call.live_rows == 0) return call.rows;
  return smaller(call.rows, call.live_rows * *static_cast<const Int*>(in[last]));
}

}  // namespace
