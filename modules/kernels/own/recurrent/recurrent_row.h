// SPDX-License-Identifier: Apache-2.0
// A row alone of recurrent.h, where a panel is one vector. Several blocks of the state's columns
// share each number of the row, and their gates do not wait for each other. All their sums stay in
// registers until they are the next state.
#pragma once

#include "recurrent/recurrent_gates.h"
#include "recurrent/recurrent_row_products.h"

namespace {

// Blocks at a time: an lstm's sums take 16 registers.
constexpr int kRowBlocks = 4;

struct RecurrentRow {
  RecurrentSide input, before;
  RecurrentState state;
  const float* weights;
  float* out;  // null: the state is not kept
  bool back;   // from the last of the weights to the first
  bool half;   // whether the last block is
};

// B blocks from `first` on. Copies: for all that the compiler knows, a store could change what is
// referred to.
template <typename Cell, int B, bool kHalf>
__attribute__((noinline)) void run_blocks(const RecurrentGates<Cell> gates, const RecurrentRow row,
                                          Int first) {
  float tile[B * kRowSums<Cell>];
  TFAOT_UNROLL
  for (int i = 0; i < B - 1; ++i) {
    gates.template begin_row<true>(tile + i * kRowSums<Cell>, row.input.first, first + i);
  }
  gates.template begin_row<false>(tile + (B - 1) * kRowSums<Cell>, row.input.first, first + B - 1);
  const Int block_step = (row.input.depth + row.before.depth) * Cell::kGates * kPanel;
  add_products_of_row<Cell, B, kHalf>(tile, row.input, row.before, row.weights + first * block_step,
                                      block_step, row.back);
  TFAOT_UNROLL
  for (int i = 0; i < B - 1; ++i) {
    gates.template end<true, false>(tile + i * kRowSums<Cell>, row.state, row.out, first + i, 1);
  }
  gates.template end<false, kHalf>(tile + (B - 1) * kRowSums<Cell>, row.state, row.out,
                                   first + B - 1, 1);
}

template <typename Cell, bool kHalf, int B = kRowBlocks>
TFAOT_INLINE void run_blocks_of(Int blocks, const RecurrentGates<Cell>& gates,
                                const RecurrentRow& row, Int first) {
  if (blocks == B) return run_blocks<Cell, B, kHalf>(gates, row, first);
  if constexpr (B > (kHalf ? 2 : 1)) run_blocks_of<Cell, kHalf, B - 1>(blocks, gates, row, first);
}

// One step. Some blocks at a time, as even as possible.
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

}  // namespace
