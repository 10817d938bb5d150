// SPDX-License-Identifier: Apache-2.0
// How compiled code calls our kernels: the engine writes these calls into the HLO, and the kernels
// read them. A kernel is
//
//   extern "C" void tfaot_<kernel>_<f32|f64>_<level>(void* out, const void** in);
//
// (XLA's original custom-call convention), with level one of x86_64, x86_64_v3, x86_64_v4, generic
// (aarch64). in[0] points to the call's struct below, a constant s64 array in the HLO; in[1] and
// the following are the tensors, all dense and row-major. `out` is the result, or, for kernels with
// scratch, a void*[2] of the result and scratch memory. Buffers are aligned to 16 bytes, packed
// weights and scratch to 64. Kernels keep no state, allocate nothing and are safe from many
// threads.
//
// Packed weights. A panel is kPanelBytes wide: 16 float32 or 8 float64 columns. A [depth, columns]
// matrix is packed as [panels, depth, panel columns], the last panel padded with zeros. Every CPU
// level reads the same bytes, one cache line per step.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tfaot {
inline namespace v1 {
namespace kernels {

inline constexpr std::int64_t kPanelBytes = 64;

constexpr std::int64_t panel_columns(std::int64_t element_bytes) {
  return kPanelBytes / element_bytes;
}
constexpr std::int64_t panel_count(std::int64_t columns, std::int64_t element_bytes) {
  return (columns + panel_columns(element_bytes) - 1) / panel_columns(element_bytes);
}

// What is done to each result before it is stored: bias first, then the activation.
enum Epilogue : std::int64_t {
  kEpilogueNone = 0,
  kEpilogueBias = 1,
  kEpilogueRelu = 2,
  kEpilogueRelu6 = 6,  // at most 6, too
};

// tfaot_matmul: result[b, i, j] = sum over l of lhs[b, i, l] * rhs[b, l, j], b < batch, i < rows, j
// < columns, l < depth. in[1]: lhs, in[2]: rhs, in[3]: bias[columns] with kEpilogueBias. Strides
// are in elements, may be zero, and give the positions of lhs[b, i, l] and rhs[b, l, j]. In a
// padded batch only some rows count: with live_rows, the last in[] points to their number (s64),
// and only the first live_rows times that many rows are computed. Scratch: matmul_scratch_bytes().
struct MatMulCall {
  std::int64_t batch, rows, columns, depth;
  std::int64_t lhs_batch_stride, lhs_row_stride, lhs_depth_stride;
  std::int64_t rhs_packed;  // 1: rhs is packed, one matrix for all b; its strides are not used
  std::int64_t rhs_batch_stride, rhs_depth_stride, rhs_column_stride;
  std::int64_t epilogue;   // values of Epilogue, or-ed
  std::int64_t live_rows;  // rows for each row of the model's batch; 0: all rows count
};

// One packed matrix; never zero, because XLA has no empty buffers.
constexpr std::int64_t matmul_scratch_bytes(const MatMulCall& call, std::int64_t element_bytes) {
  if (call.rhs_packed != 0) return kPanelBytes;
  return panel_count(call.columns, element_bytes) * call.depth * kPanelBytes + kPanelBytes;
}

inline constexpr int kSpatial = 3;

// A window that slides over the last three spatial dimensions (leading ones of size 1 for fewer).
struct Window {
  std::int64_t in[kSpatial], out[kSpatial], size[kSpatial], stride[kSpatial];
  std::int64_t pad_low[kSpatial], pad_high[kSpatial];  // of the dilated input; may be negative
  std::int64_t base_dilation[kSpatial];    // 1: none; n: n-1 zeros between input elements
  std::int64_t window_dilation[kSpatial];  // 1: none
};

// tfaot_convolution: in[1]: input[batch, in..., in_channels]; in[2]: packed filter, for each group
// a packed [size[0]*size[1]*size[2]*in_channels/groups, out_channels/groups] matrix, one after the
// other; in[3]: bias[out_channels] with kEpilogueBias. Result: [batch, out..., out_channels].
// A cross-correlation, as everywhere in machine learning. Scratch: convolution_scratch_bytes().
// tfaot_depthwise: groups == in_channels == out_channels; in[2]: the filter as it is,
// [size..., out_channels]. Same result and bias; there is scratch, but it is not used.
struct ConvolutionCall {
  std::int64_t batch;
  Window window;
  std::int64_t in_channels, out_channels, groups;
  std::int64_t epilogue;
};

// One input image with its padding and base dilation written out.
constexpr std::int64_t convolution_scratch_bytes(const ConvolutionCall& call,
                                                 std::int64_t element_bytes) {
  std::int64_t elements = call.in_channels;
  for (int d = 0; d < kSpatial; ++d) {
    const Window& w = call.window;
    elements *= (w.in[d] - 1) * w.base_dilation[d] + 1 + (w.pad_low[d] > 0 ? w.pad_low[d] : 0) +
                (w.pad_high[d] > 0 ? w.pad_high[d] : 0);
  }
  return elements * element_bytes + kPanelBytes;
}

// A window over a dilated input, along one dimension: results that are `step` apart meet the same
// taps, and these meet the input as it is. So each of the phases is an ordinary window.
struct Phase {
  std::int64_t first, step, out;           // results first, first + step, ...: so many
  std::int64_t first_tap, tap_step, size;  // taps first_tap, ...; size 0: they only meet zeros
  std::int64_t stride, dilation, pad_low;  // of the ordinary window
};

constexpr std::int64_t greatest_divisor(std::int64_t a, std::int64_t b) {
  return b == 0 ? a : greatest_divisor(b, a % b);
}

// At least one; each has at least one result.
constexpr std::int64_t phase_count(const Window& w, int d) {
  const std::int64_t count = w.base_dilation[d] / greatest_divisor(w.base_dilation[d], w.stride[d]);
  return count < w.out[d] ? count : w.out[d];
}

constexpr Phase phase_of(const Window& w, int d, std::int64_t number) {
  const std::int64_t base = w.base_dilation[d];
  const std::int64_t step = base / greatest_divisor(base, w.stride[d]);
  const std::int64_t tap_step = base / greatest_divisor(base, w.window_dilation[d]);
  Phase phase{number, step, (w.out[d] - number + step - 1) / step, 0, tap_step, 0, 0, 0, 0};
  phase.stride = w.stride[d] * step / base;
  phase.dilation = w.window_dilation[d] * tap_step / base;
  for (std::int64_t tap = 0; tap < tap_step && tap < w.size[d]; ++tap) {
    const std::int64_t before = w.pad_low[d] - number * w.stride[d] - tap * w.window_dilation[d];
    if (before % base != 0) continue;
    phase.first_tap = tap;
    phase.size = (w.size[d] - tap + tap_step - 1) / tap_step;
    phase.pad_low = before / base;
    break;
  }
  return phase;
}

// What all phases together need before and after the input.
struct Padding {
  std::int64_t low, high;
};
constexpr Padding phase_padding(const Window& w, int d) {
  Padding padding{0, 0};
  for (std::int64_t i = 0; i < phase_count(w, d); ++i) {
    const Phase p = phase_of(w, d, i);
    if (p.size == 0) continue;
    const std::int64_t end =
        (p.out - 1) * p.stride + (p.size - 1) * p.dilation + 1 - p.pad_low - w.in[d];
    if (p.pad_low > padding.low) padding.low = p.pad_low;
    if (end > padding.high) padding.high = end;
  }
  return padding;
}

// tfaot_transposed_convolution: the same as tfaot_convolution for a window of any base dilation,
// with the taps of each phase packed for themselves: for each phase of the first dimension, each of
// the second and each of the third, what in[2] is for a window of the phase's size.
// Scratch: transposed_scratch_bytes().

// One input image with what the phases need around it.
constexpr std::int64_t transposed_scratch_bytes(const ConvolutionCall& call,
                                                std::int64_t element_bytes) {
  std::int64_t elements = call.in_channels;
  for (int d = 0; d < kSpatial; ++d) {
    const Padding padding = phase_padding(call.window, d);
    elements *= padding.low + call.window.in[d] + padding.high;
  }
  return elements * element_bytes + kPanelBytes;
}

// tfaot_resize: each result is a sum of `taps` neighbours along the first dimension and along the
// second, times weights: result[b, i, j, c] = sum over k < taps[0], l < taps[1] of rows[i, k] *
// columns[j, l] * input[b, start[i] + k, start[out[0] + j] + l, c]. in[1]: input[batch, in...,
// channels]; in[2]: rows[out[0], taps[0]], then columns[out[1], taps[1]]. The starts follow the
// struct. Scratch: resize_scratch_bytes().
struct ResizeCall {
  std::int64_t batch, in[2], out[2], taps[2], channels;
};

// One line of the input.
constexpr std::int64_t resize_scratch_bytes(const ResizeCall& call, std::int64_t element_bytes) {
  return call.in[1] * call.channels * element_bytes + kPanelBytes;
}

// tfaot_max_pool (padding counts as -infinity; a NaN in the window gives NaN) and tfaot_sum_pool
// (padding counts as 0): in[1]: input[batch, in..., channels], result [batch, out..., channels].
// tfaot_range_pool: [2, batch, out..., channels]: the same maxima, then the minima of all elements
// that are not NaN. base_dilation is 1. No scratch: `out` is the result.
struct PoolCall {
  std::int64_t batch;
  Window window;
  std::int64_t channels;
};

// tfaot_forest: result[row, target] = the sum of what the trees say of the row. in[1]: x[rows,
// features]; in[2]: nodes[.., 2], integers as large as the elements, a tree's root at the number of
// the tree; in[3]: leaves[.., targets] with `vectors`. A step goes from a node to (node[1] >> bits)
// + (keys[node[1] & mask] > node[0]), with forest_slot_bits() bits and mask. After the block's
// depth of steps, node[0] is the bits of what is added to the block's target, or with `vectors` the
// row of leaves that is added to all of them. A leaf leads to itself. keys[0] is the smallest
// integer, keys[1 + i] the bits of feature i as an integer of the same order, or the largest one
// for NaN; with slots = 1 + 2 * features follow the same keys with the smallest one for NaN. The
// blocks follow the struct. live_rows is as in MatMulCall. Scratch: forest_scratch_bytes().
struct ForestCall {
  std::int64_t rows, features, slots, targets, blocks;
  std::int64_t vectors;    // 1: leaves are rows of in[3]
  std::int64_t live_rows;  // rows for each row of the model's batch; 0: all rows count
};
// Trees [first, first + trees), at most kForestBlockTrees.
struct ForestBlock {
  std::int64_t first, trees, depth, target;
};
inline constexpr std::int64_t kForestBlockTrees = 8;

constexpr std::int64_t forest_slot_bits(std::int64_t element_bytes) {
  return element_bytes == 4 ? 12 : 32;
}

// Keys of so many rows are made at a time: they stay in the first cache.
constexpr std::int64_t forest_tile_rows(const ForestCall& call, std::int64_t element_bytes) {
  constexpr std::int64_t kTileBytes = 16384;
  const std::int64_t fit = kTileBytes / (call.slots * element_bytes);
  const std::int64_t tile = fit < 8 ? 8 : fit;
  return tile < call.rows ? tile : call.rows;
}
constexpr std::int64_t forest_scratch_bytes(const ForestCall& call, std::int64_t element_bytes) {
  return forest_tile_rows(call, element_bytes) * call.slots * element_bytes + kPanelBytes;
}

// tfaot_lstm, tfaot_gru, tfaot_rnn (float32): `steps` steps of a recurrent layer. A step makes of
// the state h[rows, hidden], of a row's x and of weights W (input) and R (state):
//   lstm: memory' = sigmoid(f) * memory + sigmoid(i) * tanh(g), h' = sigmoid(o) * tanh(memory'),
//         with the gates i, f, g, o = x W + h R + bias
//   gru:  n = tanh(x Wn + bias + sigmoid(r) * (h Rn + state's bias)), u = sigmoid(z),
//         h' = u * h + (1 - u) * n, with the gates z, r = x W + h R + bias
//   rnn:  h' = tanh(x W + h R + bias), or its positive part with `relu`
// in[1]: x. With `features` a row's x is so many numbers, else it is x W: a gate's numbers begin at
// x_gate[gate]. in[2]: packed weights, below. in[3]: the packed bias. in[4]: the first h, in[5]:
// the lstm's first memory. Result: h of all steps, or only of the last one, at out_start + step *
// out_step + row * out_row; the last memory as [rows, hidden] at memory_out, unless that is
// negative. Steps and places are in elements; x_step and out_step may be negative. live_rows is as
// in MatMulCall. Scratch: recurrent_scratch_bytes().
//
// Packed weights: [blocks, features + hidden, gates, panel columns], with the gates in the order
// above. A block is a panel of the state's columns; an rnn has two panels to a block in place of
// gates. The bias: [blocks, sums, panel columns]; the sums are the gates, and a gru's last one is
// that of h Rn. Columns beyond `hidden` are zeros in both.
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
