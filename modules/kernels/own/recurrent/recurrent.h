// SPDX-License-Identifier: Apache-2.0
// Recurrent layers (abi.h): all steps of some rows, then of the next rows, so that the state stays
// in the first caches. A tile is a few rows by one block of the state's columns, with all gates of
// them: its sums become the next state as soon as they are made, and no tensor of gates is written.
// Slower: both directions together (their weights do not fit into the L1 cache), a tile's gates
// between the products of the next, prefetching the next weights.
//
// A Cell has
//   kGates    vectors of weights to a block (per vector of the state's columns)
//   kSums     sums; the first kInputs of them begin with a column of the step's products
//   kPanels   how many panels of the state's columns a block has
//   sum_of()  which sum a gate's products with the state (or with the input) belong to
//   kMemory   whether it has a second state
//   next()    the new state of the sums of a vector of columns
//   prepare() a part of that which is done for all rows first, into sums and memory; if kPrepares
#pragma once

#include "recurrent/recurrent_gates.h"
#include "recurrent/recurrent_row.h"

namespace {

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

  // Of one row; zeros beyond its columns.
  void take_state(float* to, const float* from) const {
    __builtin_memset(to + width_ - 2 * kPanel, 0, 2 * kPanel * sizeof(float));
    copy_elements(to, from, call_.hidden);
  }

  // To and fro: the weights that came last are still in the caches.
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
    float tile[kTileRows * kRowSums<Cell>];
    TileProducts products = gates_.begin(tile, x + row * call_.x_row, block, rows);
    products.state = {before_ + row * width_, width_, call_.hidden};
    products.weights = weights_ + block * (call_.features + call_.hidden) * Cell::kGates * kPanel;
    const Int place = row * width_;
    const RecurrentState state = {before_ + place, after_ + place, memory_ + place, width_};
    if (out != nullptr) out += row * call_.out_row;
    add_products_of<Cell>(rows + (block < whole_blocks_ ? 0 : kTileRows), tile, products);
    // Also of a whole block that is the only one.
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

// How many rows count in a padded batch; `last`: the operand that says it.
TFAOT_INLINE Int live_rows(const RecurrentCall& call, const void** in, int last) {
  if (call.live_rows == 0) return call.rows;
  return smaller(call.rows, call.live_rows * *static_cast<const Int*>(in[last]));
}

}  // namespace
