// SPDX-License-Identifier: Apache-2.0
// Calls of tfaot_lstm, tfaot_gru and tfaot_rnn; abi.h says what calls are.
#pragma once

#include <cstdint>

#include "tfaot/kernels/panels.h"

namespace tfaot {
inline namespace v1 {
namespace kernels {

// tfaot_lstm, tfaot_gru, tfaot_rnn (float32): `steps` steps of a recurrent layer. A step computes
// from the state h[rows, hidden], a row's x and weights W (input) and R (state):
//   lstm: memory' = sigmoid(f) * memory + sigmoid(i) * tanh(g), h' = sigmoid(o) * tanh(memory'),
//         with the gates i, f, g, o = x W + h R + bias
//   gru:  n = tanh(x Wn + bias + sigmoid(r) * (h Rn + state's bias)), u = sigmoid(z),
//         h' = u * h + (1 - u) * n, with the gates z, r = x W + h R + bias
//   rnn:  h' = tanh(x W + h R + bias), or its positive part with `relu`
// in[1]: x. With `features` a row's x has that many numbers, else it is x W: a gate's numbers begin
// at x_gate[gate]. in[2]: packed weights, below. in[3]: the packed bias. in[4]: the first h, in[5]:
// the lstm's first memory. Result: h of all steps, or only of the last one, at out_start + step *
// out_step + row * out_row; the last memory as [rows, hidden] at memory_out, unless that is
// negative. Steps and places are in elements; x_step and out_step may be negative. live_rows is as
// in MatMulCall. Scratch: recurrent_scratch_bytes().
//
// Packed weights: [blocks, features + hidden, gates, panel columns], with the gates in the order
// above. A block is a panel of the state's columns; an rnn has two panels to a block in place of
// gates. The last block may be half (ends_in_half_block): its panels have half as many columns, and
// that of an rnn is one panel. The bias: [blocks, sums, panel columns], all whole; the sums are the
// gates, and a gru's last one is that of h Rn. Columns beyond `hidden` are zeros in both.
struct RecurrentCall {
  std::int64_t rows, steps, hidden, features;
  std::int64_t x_start, x_step, x_row;
  std::int64_t x_gate[4];
  std::int64_t out_start, out_step, out_row;
  std::int64_t keeps_all;   // 1: h of all steps
  std::int64_t memory_out;  // -1: not wanted
  std::int64_t relu;        // 1: of an rnn, in place of tanh
  std::int64_t live_rows;   // rows for each row of the model's batch; 0: all rows count
};

// True if the last block is half. Every step reads all weights, so columns of zeros cost time. The
// first block is always whole.
constexpr bool ends_in_half_block(std::int64_t hidden, std::int64_t block_columns) {
  const std::int64_t last = hidden % block_columns;
  return hidden > block_columns && last > 0 && 2 * last <= block_columns;
}
// Columns of a row of the state in scratch: whole blocks of any cell.
constexpr std::int64_t recurrent_width(const RecurrentCall& call, std::int64_t panel) {
  return (call.hidden + 2 * panel - 1) / (2 * panel) * (2 * panel);
}
// Rows whose steps are done together: their states fit into the first cache.
constexpr std::int64_t recurrent_block_rows(const RecurrentCall& call, std::int64_t panel) {
  constexpr std::int64_t kStateElements = 8192;
  constexpr std::int64_t kUnit = 12;  // a multiple of all levels' tiles
  const std::int64_t fit = kStateElements / recurrent_width(call, panel) / kUnit * kUnit;
  const std::int64_t rows = fit < kUnit ? kUnit : fit;
  return rows < call.rows ? rows : call.rows;
}
// Two states and a memory.
constexpr std::int64_t recurrent_scratch_bytes(const RecurrentCall& call) {
  constexpr std::int64_t kElementBytes = 4;
  const std::int64_t panel = panel_columns(kElementBytes);
  return 3 * recurrent_block_rows(call, panel) * recurrent_width(call, panel) * kElementBytes;
}

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
