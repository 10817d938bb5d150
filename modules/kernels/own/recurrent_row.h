// SPDX-License-Identifier: Apache-2.0
// A row alone of recurrent.h, where a panel is one vector. Several blocks of the state's columns
// share each number of the row, and their gates do not wait for each other. All their sums stay in
// registers until they are the next state.
#pragma once

#include "recurrent_gates.h"

namespace {

// Blocks at a time: an lstm's sums take 16 registers.
constexpr int kRowBlocks = 4;

struct RecurrentRow {
  RecurrentSide input, before;
  RecurrentState state;
  const float* weights;
  float* out;  // null: the state is not kept
  bool back;   // from the last of the weights to the first
};

// N sums for each: few blocks would wait for the step before. Much state is read in turns that are
// so long that an instruction reads weights of another page each time (row_input.h).
template <typename Cell, bool kOfState, int N, int B>
TFAOT_INLINE void add_row_side(Floats (&sums)[N][B][Cell::kSums], const RecurrentSide& side,
                               const float* b, Int block_step, bool back) {
  constexpr Int kStep = Cell::kGates * kPanel;
  const Int whole = side.depth - side.depth % N;
  const Int first = back ? whole - N : 0, next = back ? -N : N;
  const float* a = side.first + first;
  const float* right[B];
  TFAOT_UNROLL
  for (int i = 0; i < B; ++i) right[i] = b + i * block_step + first * kStep;
  const auto add = [&](Floats(&to)[B][Cell::kSums], Int k) __attribute__((always_inline)) {
    TFAOT_UNROLL
    for (int i = 0; i < B; ++i) {
      TFAOT_UNROLL
      for (int gate = 0; gate < Cell::kGates; ++gate) {
        to[i][Cell::sum_of(gate, kOfState)] += load(right[i] + k * kStep + gate * kPanel) * a[k];
      }
    }
  };
  const auto go_on = [&](Int steps) __attribute__((always_inline)) {
    a += steps;
    TFAOT_UNROLL
    for (int i = 0; i < B; ++i) {
      right[i] += steps * kStep;
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

// To what the sums begin with. tile: [block][sum][column]; b: weights, from one block to the next
// block_step.
template <typename Cell, int B>
TFAOT_INLINE void add_products_of_row(float* tile, const RecurrentRow& row, const float* b,
                                      Int block_step) {
  constexpr int kSums = B * Cell::kSums;
  constexpr int kParts = sums_per_element(B * Cell::kGates);
  Floats sums[kParts][B][Cell::kSums] = {};
  TFAOT_UNROLL
  for (int i = 0; i < kSums; ++i) {
    sums[0][i / Cell::kSums][i % Cell::kSums] = load(tile + i * kPanel);
  }
  if (row.input.depth != 0) add_row_side<Cell, false>(sums, row.input, b, block_step, row.back);
  b += row.input.depth * Cell::kGates * kPanel;
  add_row_side<Cell, true>(sums, row.before, b, block_step, row.back);
  TFAOT_UNROLL
  for (int half = kParts / 2; half > 0; half /= 2) {
    TFAOT_UNROLL
    for (int i = 0; i < half * kSums; ++i) {
      const int part = i / kSums, block = i / Cell::kSums % B, sum = i % Cell::kSums;
      sums[part][block][sum] += sums[part + half][block][sum];
    }
  }
  TFAOT_UNROLL
  for (int i = 0; i < kSums; ++i) {
    store(tile + i * kPanel, sums[0][i / Cell::kSums][i % Cell::kSums]);
  }
}

// B blocks from `first` on. Copies: for all that the compiler knows, a store could change what is
// referred to.
template <typename Cell, int B>
__attribute__((noinline)) void run_blocks(const RecurrentGates<Cell> gates, const RecurrentRow row,
                                          Int first) {
  float tile[B * kRowSums<Cell>];
  TFAOT_UNROLL
  for (int i = 0; i < B; ++i) {
    gates.begin_row(tile + i * kRowSums<Cell>, row.input.first, first + i);
  }
  const Int block_step = (row.input.depth + row.before.depth) * Cell::kGates * kPanel;
  add_products_of_row<Cell, B>(tile, row, row.weights + first * block_step, block_step);
  TFAOT_UNROLL
  for (int i = 0; i < B; ++i) {
    gates.end(tile + i * kRowSums<Cell>, row.state, row.out, first + i, 1);
  }
}

template <typename Cell, int B = kRowBlocks>
TFAOT_INLINE void run_blocks_of(Int blocks, const RecurrentGates<Cell>& gates,
                                const RecurrentRow& row, Int first) {
  if (blocks == B) return run_blocks<Cell, B>(gates, row, first);
  if constexpr (B > 1) run_blocks_of<Cell, B - 1>(blocks, gates, row, first);
}

// One step. Some blocks at a time, as even as possible.
template <typename Cell>
TFAOT_INLINE void run_row_of(const RecurrentGates<Cell>& gates, const RecurrentRow& row,
                             Int blocks) {
  const Int groups = ceil_div(blocks, Int{kRowBlocks});
  for (Int i = 0; i < groups; ++i) {
    const Int group = row.back ? groups - 1 - i : i;
    const Int first = group * blocks / groups;
    run_blocks_of<Cell>((group + 1) * blocks / groups - first, gates, row, first);
  }
}

}  // namespace
