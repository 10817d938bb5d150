// SPDX-License-Identifier: Apache-2.0
// How compiled code calls our kernels: the engine writes these calls into the HLO, and the kernels
// read them. A kernel is
//
//   extern "C" void tfaot_<kernel>_<f32|f64>_<level>(void* out, const void** in);
//
// (XLA's original custom-call convention); kernels.def is the table of kernels, levels.def that of
// levels. in[0] points to the call's struct below, a constant s64 array in the HLO; in[1] and the
// following are the tensors, all dense and row-major. `out` is the result, or, for kernels with
// scratch, an array of pointers to the results (mostly one) and to scratch memory. Buffers are
// aligned to 16 bytes, packed weights and scratch to 64. Kernels keep no state, allocate nothing
// and are safe from many threads.
//
// A call that shares gets the address of a tfaot::Tasks (tfaot/runtime/detail/tasks.h) as a number,
// or 0 if it is to be computed by the caller alone. Each lane of the tasks has at least as much
// scratch memory as the call. Results are the same to the last bit, whoever computes them.
#pragma once

#include <cstdint>

namespace tfaot {
inline namespace v1 {
namespace kernels {

// ---- Packed weights. A panel is kPanelBytes wide: 16 float32 or 8 float64 columns. A [depth,
// columns] matrix is packed as [panels, depth, panel columns], the last panel padded with zeros.
// Every CPU level reads the same bytes, one cache line per step.

inline constexpr std::int64_t kPanelBytes = 64;

constexpr std::int64_t panel_columns(std::int64_t element_bytes) {
  return kPanelBytes / element_bytes;
}
constexpr std::int64_t panel_count(std::int64_t columns, std::int64_t element_bytes) {
  return (columns + panel_columns(element_bytes) - 1) / panel_columns(element_bytes);
}

// Rows that are processed together, so that what they need stays in a cache: `cache` elements or
// bytes hold as many rows of `row` each.
struct RowBlock {
  std::int64_t cache, row;
  std::int64_t unit = 1;  // the block is a multiple of it, or has all rows
  std::int64_t fewest = unit;

  constexpr std::int64_t of(std::int64_t rows) const {
    if (row <= 0) return rows;
    const std::int64_t fit = cache / row / unit * unit;
    const std::int64_t most = fit < fewest ? fewest : fit;
    return rows < most ? rows : most;
  }
};

// Applied to each result before it is stored: bias first, then a sum, then the activation, which is
// a relu or another function.
enum Epilogue : std::int64_t {
  kEpilogueNone = 0,
  kEpilogueBias = 1,
  kEpilogueRelu = 2,
  kEpilogueRelu6 = 6,    // at most 6, too
  kEpilogueSum = 8,      // an addend for each result, laid out like the results
  kEpiloguePlaced = 16,  // of a MatMulCall: it says where results go
  kEpilogueShared = 32,  // after all other in[], one to an s64: the address of tasks (abi.h), or 0
  kEpilogueLive = 64,    // of a ConvolutionCall: only some images count
  kEpilogueRowBias = 128,   // of a MatMulCall: a bias for each row, in place of one for each column
  kEpilogueFunction = 256,  // after bias and addends, an in[] to a ResultFunction
  kEpilogueSwapped = 512,   // of a MatMulCall: the sides of a model's product are swapped
};

// Functions of each result of a kernel, after all that Epilogue names.
enum Function : std::int64_t {
  kFunctionNone = 0,
  kFunctionTanh = 1,
  kFunctionSigmoid = 2,
  kFunctionSwish = 3,        // x * sigmoid(x)
  kFunctionGelu = 4,         // as GeluCall, by erf
  kFunctionGeluTanh = 5,     // and by tanh
  kFunctionSoftplus = 6,     // log(1 + exp(x))
  kFunctionLeaky = 7,        // above * x for x > 0, else below * x
  kFunctionElu = 8,          // above * x for x > 0, else below * (exp(x) - 1)
  kFunctionHardSigmoid = 9,  // above * x + below, but at least 0 and at most 1
  kFunctionHardSwish = 10,   // x times that
};

struct ResultFunction {
  std::int64_t kind;  // of Function
  double above, below;
};

// ---- Products: tfaot_matmul, tfaot_narrow_matmul (weights in fewer bits than float32) and
// tfaot_dense_chain.

// tfaot_matmul: result[b, i, j] = sum over l of lhs[b, i, l] * rhs[b, l, j], b < batch, i < rows, j
// < columns, l < depth. in[1]: lhs, in[2]: rhs; then, with kEpilogueBias, bias[columns], or
// with kEpilogueRowBias bias[rows], the same for all b, with kEpilogueSum the addends, and with
// kEpilogueFunction (float32 alone) a ResultFunction. Strides
// are in elements, may be zero, and give the positions of lhs[b, i, l] and rhs[b, l, j]. In a
// padded batch only some rows count: with live_rows, the last in[] points to their number (s64),
// and only the first live_rows times that many rows are computed. Scratch: matmul_scratch_bytes().
// With kEpiloguePlaced b counts on two levels, b = outer * inner_batch + inner: the batch strides
// are those of outer. Strides give the positions of result[b, i, 0], too; the columns lie side by
// side. Terms are added in an order that depends on the depth, and on whether there are more than
// kMostNarrowColumns columns (docs/reproducibility.md); with kEpilogueSwapped, more rows: so
// whether the sides of a product are swapped changes no bit.
inline constexpr std::int64_t kMostNarrowColumns = 8;
struct MatMulCall {
  std::int64_t batch, rows, columns, depth;
  std::int64_t lhs_batch_stride, lhs_row_stride, lhs_depth_stride;
  std::int64_t rhs_packed;  // 1: rhs is packed, one matrix for all b; its strides are not used
  std::int64_t rhs_batch_stride, rhs_depth_stride, rhs_column_stride;
  std::int64_t epilogue;   // values of Epilogue, or-ed
  std::int64_t live_rows;  // rows for each row of the model's batch; 0: all rows count
  // With kEpiloguePlaced alone; calls of 0.2.0 end here.
  std::int64_t inner_batch, lhs_inner_stride, rhs_inner_stride;
  std::int64_t result_batch_stride, result_inner_stride, result_row_stride;
};

// One packed matrix; never zero, because XLA has no empty buffers.
constexpr std::int64_t matmul_scratch_bytes(const MatMulCall& call, std::int64_t element_bytes) {
  if (call.rhs_packed != 0) return kPanelBytes;
  return panel_count(call.columns, element_bytes) * call.depth * kPanelBytes + kPanelBytes;
}

enum NarrowType : std::int64_t { kBfloat16 = 1, kFloat16 = 2, kInt8 = 3 };

// Consecutive elements of a column that lie together in a panel: a 32-bit word holds two bfloat16
// or four int8. So a word is widened by shifts alone.
constexpr std::int64_t narrow_group(std::int64_t type) {
  return type == kBfloat16 ? 2 : type == kInt8 ? 4 : 1;
}
constexpr std::int64_t narrow_bytes(std::int64_t type) { return type == kInt8 ? 1 : 2; }

// tfaot_narrow_matmul, float32 alone: tfaot_matmul with a packed right side [panels, groups, panel
// columns, group], the last group padded with zeros. in[3]: with kInt8, scale[columns], with which
// column j is multiplied; lhs is rounded to 16 bits then. After it, as there, the bias and the
// number of live rows. Scratch: narrow_scratch_bytes().
struct NarrowMatMulCall {
  MatMulCall product;  // first, as in a plain call; rhs_packed is 1
  std::int64_t rhs_type;
};

// Rows that are rounded to whole numbers of 16 bits at a time, for weights of int8, and the memory
// of one of depth elements.
inline constexpr std::int64_t kRoundedRows = 64;
constexpr std::int64_t rounded_row_bytes(std::int64_t depth) {
  return (depth * 2 + kPanelBytes - 1) / kPanelBytes * kPanelBytes;
}
constexpr std::int64_t narrow_scratch_bytes(const NarrowMatMulCall& call) {
  if (call.rhs_type != kInt8) return kPanelBytes;  // never zero, because XLA has no empty buffers
  const MatMulCall& c = call.product;
  const std::int64_t rows = c.rows < kRoundedRows ? c.rows : kRoundedRows;
  return rows * rounded_row_bytes(c.depth) + kPanelBytes;
}

// tfaot_dense_chain (float32): dense layers, each of the results of the one before. A layer
// computes function(x W + bias) from x[rows, depth]; the next layer's depth is its columns. in[1]:
// the first x, then for each layer its packed weights and, with kEpilogueBias, its bias[columns].
// Result: that of the last layer, [rows, columns]. The layers follow the struct. live_rows is as in
// MatMulCall. Scratch: dense_chain_scratch_bytes().
struct DenseChainCall {
  std::int64_t rows, depth, layers;
  std::int64_t widest;     // the most columns of a layer before the last
  std::int64_t live_rows;  // rows for each row of the model's batch; 0: all rows count
};
struct DenseLayer {
  std::int64_t columns;
  std::int64_t epilogue;  // kEpilogueBias, and kEpilogueRelu or kEpilogueRelu6 without function
  ResultFunction function;
};

// Rows that go through all layers together: intermediate results stay in the first caches.
constexpr std::int64_t dense_chain_block_rows(const DenseChainCall& call) {
  constexpr std::int64_t kUnit = 24;  // a multiple of all levels' tiles
  constexpr std::int64_t kLeastWidth = 18;
  return RowBlock{8192, call.widest < kLeastWidth ? kLeastWidth : call.widest, kUnit}.of(call.rows);
}
// The input and the output of a layer.
constexpr std::int64_t dense_chain_scratch_bytes(const DenseChainCall& call) {
  constexpr std::int64_t kElementBytes = 4;
  return 2 * dense_chain_block_rows(call) * call.widest * kElementBytes + kPanelBytes;
}

// ---- Windows that slide over images: convolutions, pooling and resizing.

inline constexpr int kSpatial = 3;

// A window that slides over the last three spatial dimensions (leading ones of size 1 for fewer).
struct Window {
  std::int64_t in[kSpatial], out[kSpatial], size[kSpatial], stride[kSpatial];
  std::int64_t pad_low[kSpatial], pad_high[kSpatial];  // of the dilated input; may be negative
  std::int64_t base_dilation[kSpatial];  // n: n-1 zeros between input elements; 1 except where said
  std::int64_t window_dilation[kSpatial];  // 1: none
};

// tfaot_convolution: in[1]: input[batch, in..., in_channels]; in[2]: packed filter, for each group
// a packed [size[0]*size[1]*size[2]*in_channels/groups, out_channels/groups] matrix, one after the
// other; then, with kEpilogueBias, bias[out_channels], with kEpilogueSum the addends, and with
// kEpilogueFunction a ResultFunction (float32 alone). Result: [batch, out..., out_channels]. A
// cross-correlation, as everywhere in machine learning. With kEpilogueLive, only some images of a
// padded batch count: the last in[] points to the number of rows (s64), and only the first
// live_images times that many are computed. Scratch: convolution_scratch_bytes(). tfaot_depthwise:
// groups == in_channels == out_channels, any base dilation; in[2]: the filter as it is, [size...,
// out_channels]. Same
// result and bias, no sum, and a function only without base dilation; there is scratch, but it is
// not used. tfaot_grouped_convolution: the same for is_grouped() calls; the filter is [size...,
// in_channels / groups, out_channels].
struct ConvolutionCall {
  std::int64_t batch;
  Window window;
  std::int64_t in_channels, out_channels, groups;
  std::int64_t epilogue;
  // With kEpilogueLive alone; calls of 0.2.0 end before it.
  std::int64_t live_images;  // images for each row of the model's batch
};

// The sizes of groups of tfaot_grouped_convolution: a vector of results has several groups.
constexpr bool is_grouped(const ConvolutionCall& call) {
  const std::int64_t inputs = call.in_channels / call.groups;
  const std::int64_t outputs = call.out_channels / call.groups;
  if (inputs == 1) return outputs == 2 || outputs == 4;
  return inputs == outputs && (inputs == 2 || inputs == 4);
}

// True if tfaot_convolution reads a copy of each image, with its padding written out.
constexpr bool is_copied(const Window& window) {
  for (int d = 0; d < kSpatial; ++d) {
    if (window.pad_low[d] > 0 || window.pad_high[d] > 0) return true;
  }
  return false;
}

// The copy of one image.
constexpr std::int64_t convolution_scratch_bytes(const ConvolutionCall& call,
                                                 std::int64_t element_bytes) {
  if (!is_copied(call.window)) return kPanelBytes;
  std::int64_t elements = call.in_channels;
  for (int d = 0; d < kSpatial; ++d) {
    const Window& w = call.window;
    elements *=
        w.in[d] + (w.pad_low[d] > 0 ? w.pad_low[d] : 0) + (w.pad_high[d] > 0 ? w.pad_high[d] : 0);
  }
  return elements * element_bytes + kPanelBytes;
}

// tfaot_max_pool (padding and NaN are left out; of nothing else it is the lowest finite number),
// tfaot_largest_pool (padding counts as -infinity; a NaN gives NaN) and tfaot_sum_pool (padding
// counts as 0): in[1]: input[batch, in..., channels], result [batch, out..., channels].
// tfaot_range_pool, float32 alone: [2, batch, out..., channels]: the maxima of tfaot_max_pool, then
// the minima in the same way. No scratch: `out` is the result.
struct PoolCall {
  std::int64_t batch;
  Window window;
  std::int64_t channels;
};

// The results of one image.
constexpr std::int64_t pooled_elements(const PoolCall& call) {
  return call.window.out[0] * call.window.out[1] * call.window.out[2] * call.channels;
}

// tfaot_function_pool: tfaot_max_pool of the values of a function that falls, then rises: swish or
// gelu. float32 alone. in[1] and the result are those of tfaot_max_pool. Each window has a number
// that is not NaN. With minus infinity, whose value is NaN, it is the value of the largest number.
// Scratch: function_pool_scratch_bytes().
struct FunctionPoolCall {
  PoolCall pool;
  ResultFunction function;
};

// Images that are pooled at a time: their ranges stay in the first cache.
constexpr std::int64_t function_pool_images(const PoolCall& pool) {
  return RowBlock{2048, pooled_elements(pool)}.of(pool.batch);
}

// Their largest numbers, then their smallest ones.
constexpr std::int64_t function_pool_scratch_bytes(const PoolCall& pool) {
  constexpr std::int64_t kBytes = 2 * sizeof(float);
  return function_pool_images(pool) * pooled_elements(pool) * kBytes;
}

// A window over a dilated input, along one dimension: results that are `step` apart have the same
// taps, which read the input without its dilation. So each of the phases is an ordinary window.
struct Phase {
  std::int64_t first, step, out;           // `out` results: first, first + step, ...
  std::int64_t first_tap, tap_step, size;  // taps first_tap, ...; size 0: they only read zeros
  std::int64_t stride, dilation, pad_low;  // of the ordinary window
};

constexpr std::int64_t greatest_divisor(std::int64_t a, std::int64_t b) {
  return b == 0 ? a : greatest_divisor(b, a % b);
}

// At least one; each has at least one result.
constexpr std::int64_t phase_count(const Window& w, int d) {
  if (w.base_dilation[d] == 1) return 1;
  const std::int64_t count = w.base_dilation[d] / greatest_divisor(w.base_dilation[d], w.stride[d]);
  return count < w.out[d] ? count : w.out[d];
}

constexpr Phase phase_of(const Window& w, int d, std::int64_t number) {
  const std::int64_t base = w.base_dilation[d];
  if (base == 1) {  // without the divisions, which take as long as a small image
    return {0, 1, w.out[d], 0, 1, w.size[d], w.stride[d], w.window_dilation[d], w.pad_low[d]};
  }
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

// The padding that all phases together need before and after the input.
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

// One input image with the padding of all phases.
constexpr std::int64_t transposed_scratch_bytes(const ConvolutionCall& call,
                                                std::int64_t element_bytes) {
  std::int64_t elements = call.in_channels;
  for (int d = 0; d < kSpatial; ++d) {
    const Padding padding = phase_padding(call.window, d);
    elements *= padding.low + call.window.in[d] + padding.high;
  }
  return elements * element_bytes + kPanelBytes;
}

// tfaot_winograd_convolution, float32 alone: the same as tfaot_convolution, by Winograd's minimal
// filtering F(2, 3) or F(4, 3) (Lavin and Gray, https://arxiv.org/abs/1509.09308) along each of the
// last two spatial dimensions in which the window has size 3. A tile of inputs is transformed to as
// many numbers, each is multiplied with a [in_channels, out_channels] matrix of its own, and the
// sums are transformed to a tile of results. For two results a dimension: 16 products in place of
// 36, or 4 in place of 6; for four: 36 in place of 144, or 6 in place of 12. in[2]: the matrices of
// winograd_factor(), each packed, one after the other. For windows of is_for_winograd(), one group.
// Scratch: winograd_scratch_bytes().
struct WinogradCall {
  ConvolutionCall convolution;
  std::int64_t results;  // of a tile, along one dimension: 2 or 4
};

inline constexpr std::int64_t kWinogradSize = 3;  // of a window

// F(4, 3) evaluates polynomials at 0, infinity, and plus and minus these two. With 1 and 2, as
// usual, its errors are two to five times as large.
inline constexpr double kWinogradPoints[] = {0.70710678118654752440, 1.41421356237309504880};

// The factor of a tap of the window in the matrix of a tile's number, along one dimension.
constexpr double winograd_factor(std::int64_t results, std::int64_t number, std::int64_t tap) {
  constexpr double kTwo[4][kWinogradSize] = {
      {1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};
  constexpr double a = kWinogradPoints[0], b = kWinogradPoints[1];
  constexpr double kFour[6][kWinogradSize] = {{1, 0, 0},
                                              {-2.0 / 3, -2.0 / 3 * a, -1.0 / 3},
                                              {-2.0 / 3, 2.0 / 3 * a, -1.0 / 3},
                                              {1.0 / 6, 1.0 / 6 * b, 1.0 / 3},
                                              {1.0 / 6, -1.0 / 6 * b, 1.0 / 3},
                                              {0, 0, 1}};
  return results == 2 ? kTwo[number][tap] : kFour[number][tap];
}

constexpr bool is_for_winograd(const Window& window) {
  bool some = false;
  for (int d = 0; d < kSpatial; ++d) {
    const bool is_one = window.size[d] == 1 && window.pad_low[d] == 0 && window.pad_high[d] == 0;
    const bool is_three = d > 0 && window.size[d] == kWinogradSize;
    if (window.stride[d] != 1 || window.base_dilation[d] != 1 || window.window_dilation[d] != 1 ||
        !(is_one || is_three)) {
      return false;
    }
    some = some || is_three;
  }
  return some;
}

// Inputs, and below tiles, along one dimension.
constexpr std::int64_t winograd_inputs(const WinogradCall& call, int dimension) {
  return call.convolution.window.size[dimension] == kWinogradSize ? call.results + kWinogradSize - 1
                                                                  : 1;
}
constexpr std::int64_t winograd_tiles(const WinogradCall& call, int dimension) {
  const Window& window = call.convolution.window;
  const std::int64_t out = window.out[dimension];
  return window.size[dimension] == kWinogradSize ? (out + call.results - 1) / call.results : out;
}

// The number of matrices.
constexpr std::int64_t winograd_matrices(const WinogradCall& call) {
  return winograd_inputs(call, 1) * winograd_inputs(call, 2);
}
// The tiles of all images.
constexpr std::int64_t winograd_tiles(const WinogradCall& call) {
  return call.convolution.batch * call.convolution.window.out[0] * winograd_tiles(call, 1) *
         winograd_tiles(call, 2);
}

// Tiles that are processed at a time: their numbers stay in the second-level cache, but each matrix
// is used for a few dozen tiles. A multiple of the rows of every kernel tile.
constexpr std::int64_t winograd_tiles_at_once(const WinogradCall& call) {
  constexpr std::int64_t kCacheBytes = 512 << 10, kUnit = 24, kFewest = 48, kMost = 480;
  const std::int64_t tiles = winograd_tiles(call);
  const std::int64_t tile_bytes = winograd_matrices(call) *
                                  (call.convolution.in_channels + call.convolution.out_channels) *
                                  static_cast<std::int64_t>(sizeof(float));
  return RowBlock{kCacheBytes, tile_bytes, kUnit, kFewest}.of(tiles < kMost ? tiles : kMost);
}

// The step from the numbers for one matrix to those for the next. One extra cache line avoids set
// conflicts in L1.
constexpr std::int64_t winograd_step(const WinogradCall& call, std::int64_t channels) {
  return winograd_tiles_at_once(call) * channels + panel_columns(sizeof(float));
}

// Elements of a row of a tile's inputs, as whole panels.
constexpr std::int64_t winograd_row(const WinogradCall& call) {
  constexpr std::int64_t kUnit = panel_columns(sizeof(float));
  return (winograd_inputs(call, 2) * call.convolution.in_channels + kUnit - 1) / kUnit * kUnit;
}

// A row of inputs that are not in the image, then the numbers of all tiles: the factors of the
// matrices, and the sums.
constexpr std::int64_t winograd_scratch_bytes(const WinogradCall& call) {
  const std::int64_t elements = winograd_step(call, call.convolution.in_channels) +
                                winograd_step(call, call.convolution.out_channels);
  return (winograd_row(call) + winograd_matrices(call) * elements) *
         static_cast<std::int64_t>(sizeof(float));
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

// ---- Convolutions and products of fewer bits.

enum ElementType : std::int64_t { kElementFloat32 = 0, kElementUint8 = 1, kElementInt8 = 2 };

// tfaot_low_precision: a tfaot_convolution (or a product of rows, as one with a window of size 1)
// that multiplies 8-bit whole numbers or, where the input is float32, bfloat16. in[1]: the input,
// of input_type. in[2]: the packed filter, for each group [panels, words, panel columns, numbers of
// a word], a word of 32 bits being four int8 or two bfloat16 that are neighbours along the depth,
// the last word padded with zeros, and panels as for float32.
//
// Whole numbers: in[3]: int32 offset[out_channels], in[4]: float32 scale[out_channels]. A value is
// scale[j] times the float32 of offset[j] + sum of x * filter. The sum is exact, modulo 2^32. An x
// of int8 counts as x + 128, and padding as `padding`, so `offset` makes up for both (and for the
// zero point of x). bfloat16: x is rounded to it, to nearest, ties to even; each product is exact,
// the sums are float32, and their order depends on the depth and the machine alone; padding is 0.
//
// With `planes`, which are at most 4, the input of whole numbers is [batch, planes, pixels], and
// in_channels is 4: the channels beyond have any numbers, and weights of zero. The window has a
// line or several, more than one tap and no dilation of columns, and there are no groups.
//
// Channels of whole numbers that are convolved by themselves (is_of_channels()) have one filter
// [panels, words, panel columns, 4] for all: a word has four neighbouring lines of a column of the
// window, the last lines padded with zeros, and words are in the order [lines, columns].
//
// After it, as there: the bias, addends (of float32), a relu, a function and the number of rows.
// Results are float32, or, with another result_type, the whole number nearest to the value, ties to
// even, plus zero_point, at least `least` and at most `most`; such calls have no function. Base
// dilation is not for this kernel. Scratch: low_precision_scratch_bytes().
//
// Whole results r may be added to addends a of 8 bits, and rounded again. Then there is no relu,
// and before the bias an in[] to three float32, the scales of r, of a and of the sum. The value is
//
//   ((r - zero_point) * scale[0] + (a - addend_zero_point) * scale[1]) / scale[2],
//
// with each operation rounded, and it becomes a whole number as above, by the numbers of the sum.
// With has_table, the last operand before the bias is a table of 256 bytes, and results are those
// that it has at the place of their bits.
struct LowPrecisionCall {
  ConvolutionCall convolution;
  std::int64_t input_type, result_type;  // of ElementType
  std::int64_t padding;                  // in the input's type
  std::int64_t zero_point, least, most;  // of 8-bit results
  std::int64_t addend_type;              // of ElementType
  std::int64_t addend_zero_point;        // of 8-bit addends, as the next ones
  std::int64_t sum_zero_point, sum_least, sum_most;
  std::int64_t has_table;  // 1: of 8-bit results
  std::int64_t planes;     // 0: channels are the last dimension of images
};

// Operands between the filter and the bias.
constexpr std::int64_t low_precision_more_operands(const LowPrecisionCall& call) {
  if (call.input_type == kElementFloat32) return 0;
  return 2 + (call.addend_type != kElementFloat32 ? 1 : 0) + call.has_table;
}

// True if each channel is convolved by itself, in one or two dimensions.
constexpr bool is_of_channels(const LowPrecisionCall& call) {
  const ConvolutionCall& c = call.convolution;
  const Window& w = c.window;
  return call.input_type != kElementFloat32 && c.groups == c.in_channels &&
         c.groups == c.out_channels && w.in[0] == 1 && w.out[0] == 1 && w.size[0] == 1 &&
         w.pad_low[0] == 0;
}

constexpr std::int64_t low_precision_depth(const ConvolutionCall& call) {
  return call.window.size[0] * call.window.size[1] * call.window.size[2] * call.in_channels /
         call.groups;
}
// Numbers of a word, and the words of a row or column.
constexpr std::int64_t low_precision_numbers(const LowPrecisionCall& call) {
  return call.input_type == kElementFloat32 ? 2 : 4;
}
constexpr std::int64_t low_precision_words(const LowPrecisionCall& call) {
  const std::int64_t numbers = low_precision_numbers(call);
  const Window& w = call.convolution.window;
  if (is_of_channels(call)) return (w.size[1] + numbers - 1) / numbers * w.size[2];
  return (low_precision_depth(call.convolution) + numbers - 1) / numbers;
}
// Positions of windows whose numbers are in memory at a time, each widened to at most twice its
// words. A multiple of the rows of every kernel tile.
constexpr std::int64_t low_precision_rows_at_once(const LowPrecisionCall& call) {
  constexpr std::int64_t kCacheBytes = 192 << 10, kUnit = 48;
  const Window& w = call.convolution.window;
  const std::int64_t rows = call.convolution.batch * w.out[0] * w.out[1] * w.out[2];
  return RowBlock{kCacheBytes, low_precision_words(call) * 8 + kPanelBytes, kUnit}.of(
      (rows + kUnit - 1) / kUnit * kUnit);
}
// Of calls of channels: the numbers of a line that the windows of a line of results meet, the words
// of such lines, and the lines that some lines of results meet.
constexpr std::int64_t line_numbers(const ConvolutionCall& call) {
  const Window& w = call.window;
  const std::int64_t columns =
      (w.out[2] - 1) * w.stride[2] + (w.size[2] - 1) * w.window_dilation[2] + 1;
  return columns * call.in_channels;
}
constexpr std::int64_t line_words_bytes(const LowPrecisionCall& call) {
  return (call.convolution.window.size[1] + 3) / 4 * 4 * line_numbers(call.convolution) +
         kPanelBytes;
}
constexpr std::int64_t met_lines(const Window& w, std::int64_t lines) {
  return (lines - 1) * w.stride[1] + (w.size[1] - 1) * w.window_dilation[1] + 1;
}
constexpr std::int64_t low_precision_scratch_bytes(const LowPrecisionCall& call) {
  if (is_of_channels(call)) {
    constexpr std::int64_t kCacheBytes = 64 << 10;
    const Window& w = call.convolution.window;
    const std::int64_t line = line_numbers(call.convolution), least = met_lines(w, 1) * line;
    const std::int64_t all = met_lines(w, w.out[1]) * line;
    const std::int64_t some = all < kCacheBytes ? all : kCacheBytes;
    return line_words_bytes(call) + (some > least ? some : least) + 3 * kPanelBytes;
  }
  // Half of it has room for the lines of a window.
  const std::int64_t band =
      call.planes == 0 ? 0
                       : met_lines(call.convolution.window, 1) * line_numbers(call.convolution) +
                             3 * kPanelBytes;
  return low_precision_rows_at_once(call) * (low_precision_words(call) * 8 + kPanelBytes) +
         kPanelBytes + 2 * band;
}

// ---- Rows of numbers. All have float32 alone and no scratch: `out` is the result. `shared` is
// kEpilogueShared, or 0.

// tfaot_softmax: result[rows, columns] = exp(y - the row's largest y), over their sum in the row, y
// = scale * x. in[1]: x[rows, columns]. Results below 1e-38 may be 0, as may those of an x whose
// distance from the largest exceeds the largest float.
struct SoftmaxCall {
  std::int64_t rows, columns;
  double scale;
  std::int64_t shared = 0;
};

// tfaot_layer_norm: result[rows, columns] = (x - mean) / sqrt(variance + epsilon) * scale + bias,
// mean and variance of the row. in[1]: x[rows, columns], in[2]: scale[columns], in[3]:
// bias[columns].
struct LayerNormCall {
  std::int64_t rows, columns;
  double epsilon;
  std::int64_t shared = 0;
};

// Most channels of a group.
inline constexpr std::int64_t kMostGroupChannels = 1024;

// tfaot_group_norm: result[batch, points, groups, channels] = (x - mean) / sqrt(variance + epsilon)
// * scale + bias, mean and variance of all points and channels of an element of the batch and a
// group. in[1]: x, in[2]: scale[groups, channels], in[3]: bias[groups, channels].
struct GroupNormCall {
  std::int64_t batch, points, groups;
  std::int64_t channels;  // of a group, at most kMostGroupChannels
  double epsilon;
  std::int64_t shared = 0;
};

enum RowSum : std::int64_t {
  kRowSumOfNumbers = 0,
  kRowSumOfSquares = 1,
  kRowSumOfSquaredDifferences = 2,  // of x and y; in[2]: y[rows, columns]
};

// tfaot_row_sum: result[rows], the sum over each row. in[1]: x[rows, columns].
struct RowSumCall {
  std::int64_t rows, columns;
  std::int64_t form;  // of RowSum
  std::int64_t shared = 0;
};

enum GeluForm : std::int64_t {
  kGeluErf = 0,   // x * (1 + erf(x / sqrt(2))) / 2
  kGeluTanh = 1,  // x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2
};

// tfaot_gelu: result[size] = gelu of each of x[size], right to 4e-7 times x, and to 4e-7 times the
// smaller of -x and 5.55 for negative ones. in[1]: x.
struct GeluCall {
  std::int64_t size;
  std::int64_t form;  // of GeluForm
  std::int64_t shared = 0;
};

// ---- Attention.

// The place of the matrix of b = outer * inner_batch + inner, and of its element (row, column), in
// elements.
struct MatrixPlaces {
  std::int64_t batch_stride;  // of outer
  std::int64_t inner_stride, row_stride, column_stride;
};

// tfaot_attention, float32 alone: result[b] = softmax(scale * queries[b] * keys[b]^T) * values[b],
// with the softmax over each row as tfaot_softmax has it, b < batch. in[1]: queries, [rows,
// depth] of each b; in[2]: keys, [keys, depth]; in[3]: values, [keys, columns]. Strides may be
// zero; the columns of the result lie side by side. Scratch: attention_scratch_bytes().
// The scores of some rows are in memory at a time, never those of a whole matrix.
struct AttentionCall {
  std::int64_t batch, inner_batch;
  std::int64_t rows, keys, depth, columns;
  double scale;
  MatrixPlaces queries, key_rows, values, result;
  std::int64_t shared = 0;  // kEpilogueShared, or 0
};

// Rows whose scores are in memory at a time: they stay in the second-level cache with their panels.
// A multiple of the rows of the kernels' tiles where scores are not very many.
constexpr std::int64_t attention_rows_at_once(const AttentionCall& call) {
  constexpr std::int64_t kCacheBytes = 384 << 10, kUnit = 24, kMost = 96;
  const std::int64_t row_bytes = call.keys * static_cast<std::int64_t>(sizeof(float));
  return RowBlock{kCacheBytes, row_bytes, kUnit}.of(call.rows < kMost ? call.rows : kMost);
}

// The step from one row of scores to the next. One extra cache line avoids set conflicts in L1 when
// row sizes are powers of two.
constexpr std::int64_t attention_row_step(const AttentionCall& call) {
  constexpr std::int64_t kColumns = panel_columns(sizeof(float));
  return (panel_count(call.keys, sizeof(float)) + 1) * kColumns;
}

// Most queries that are the lanes of vectors together.
constexpr std::int64_t kAttentionLanes = 2 * panel_columns(sizeof(float));
// True if queries can be lanes: then at least kAttentionQuad keys or columns are taken at a time,
// and the columns of values in place.
constexpr std::int64_t kAttentionQuad = 4;
constexpr bool can_be_lanes(const AttentionCall& call) {
  return call.scale > 0 && call.values.column_stride == 1 && call.keys >= kAttentionQuad &&
         call.columns >= kAttentionQuad;
}

// Keys and values of one b, packed, then scores, and the sum of each row of them. Or queries that
// are lanes, and their scores.
constexpr std::int64_t attention_scratch_bytes(const AttentionCall& call) {
  constexpr std::int64_t kBytes = sizeof(float);
  const std::int64_t rows = attention_rows_at_once(call);
  const std::int64_t packed = panel_count(call.keys, kBytes) * call.depth * kPanelBytes +
                              panel_count(call.columns, kBytes) * call.keys * kPanelBytes +
                              rows * (attention_row_step(call) + 1) * kBytes;
  const std::int64_t lanes = kAttentionLanes * (call.depth + call.keys) * kBytes;
  return (packed < lanes ? lanes : packed) + kPanelBytes;
}

// ---- Recurrent layers.

// tfaot_lstm, tfaot_gru, tfaot_rnn (float32): `steps` steps of a recurrent layer. A step computes
// from the state h[rows, hidden], a row's x and weights W (input) and R (state):
//   lstm: memory' = sigmoid(f) * memory + sigmoid(i) * tanh(g), h' = sigmoid(o) * tanh(memory'),
//         with the gates i, f, g, o = x W + h R + bias
//   gru:  n = tanh(x Wn + bias + sigmoid(r) * (h Rn + state's bias)), u = sigmoid(z),
//         h' = u * h + (1 - u) * n, with the gates z, r = x W + h R + bias
//   rnn:  h' = tanh(x W + h R + bias), or its positive part with `relu`
// in[1]: x. With `features` a row's x has that many numbers, else it is x W: a gate's numbers begin
// at x_gate[gate]. Both give the same bits if x W is a tfaot_matmul of more than kMostNarrowColumns
// columns, without a bias (docs/reproducibility.md). in[2]: packed weights, below. in[3]: the
// packed bias. in[4]: the first h, in[5]: the lstm's first memory. Result: h of all steps, or only
// of the last one, at out_start + step * out_step + row * out_row; the last memory as [rows,
// hidden] at memory_out, unless that is negative. Steps and places are in elements; x_step and
// out_step may be negative. live_rows is as in MatMulCall. Scratch: recurrent_scratch_bytes().
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
  constexpr std::int64_t kUnit = 12;  // a multiple of all levels' tiles
  return RowBlock{8192, recurrent_width(call, panel), kUnit}.of(call.rows);
}
// Two states and a memory.
constexpr std::int64_t recurrent_scratch_bytes(const RecurrentCall& call) {
  constexpr std::int64_t kElementBytes = 4;
  const std::int64_t panel = panel_columns(kElementBytes);
  return 3 * recurrent_block_rows(call, panel) * recurrent_width(call, panel) * kElementBytes;
}

// ---- Trees.

// tfaot_forest: result[row, target] = the sum of the row's leaves in all trees. in[1]: x[rows,
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
  std::int64_t tops;       // the node in whose place the blocks' ForestTops begin; 0: none
  std::int64_t live_rows;  // rows for each row of the model's batch; 0: all rows count
};
// Trees [first, first + trees), at most kForestBlockTrees.
struct ForestBlock {
  std::int64_t first, trees, depth, target;
};
inline constexpr std::int64_t kForestBlockTrees = 16;

// The first four steps through the trees of a block, again: for vectors with a tree in each lane.
// Nodes are numbered level by level, the two ends of node n are 2 * n + 1 and 2 * n + 2. The right
// one is next if the key of the feature is larger than the node's. Where a tree has no more nodes,
// the left ends go on to its leaf. For float32 and at most kForestTopFeatures features.
struct ForestTop {
  static constexpr int kSteps = 4, kNodes = 15, kEnds = 16;
  std::int32_t keys[kNodes][kForestBlockTrees];  // the largest one: the left end is always next
  std::uint32_t ends[kEnds][kForestBlockTrees];  // nodes of the table, from left to right
  std::uint8_t slots[kNodes]
                    [kForestBlockTrees];  // a feature, and kSmallest for in[2]'s second keys
  std::int64_t bottoms;  // the node in whose place the block's bottoms begin; 0: none
  std::int64_t unused;   // whole lines
  static constexpr std::uint8_t kSmallest = 128;
};
inline constexpr std::int64_t kForestTopFeatures = 64;

// The last two steps of a tree from an end of its top, in a place of their own: [trees, kEnds] of a
// block whose trees have five or six steps. After the first node's comparison comes that of the
// second or third node, and one of four leaves is what node[0] of its node holds.
struct ForestBottom {
  static constexpr int kSteps = 2, kNodes = 3, kLeaves = 4;
  std::int32_t keys[kNodes];
  std::uint8_t slots[kNodes + 1];  // of the row's keys; the last one is unused
  std::int32_t leaves[kLeaves];
};
constexpr bool has_bottoms(const ForestBlock& block) {
  constexpr std::int64_t kMost = ForestTop::kSteps + ForestBottom::kSteps;
  return block.depth > ForestTop::kSteps && block.depth <= kMost;
}

constexpr std::int64_t forest_slot_bits(std::int64_t element_bytes) {
  return element_bytes == 4 ? 12 : 32;
}

// Rows whose keys are computed at a time: they stay in the first cache.
constexpr std::int64_t forest_tile_rows(const ForestCall& call, std::int64_t element_bytes) {
  constexpr std::int64_t kFewest = 8;
  return RowBlock{16384, call.slots * element_bytes, 1, kFewest}.of(call.rows);
}
constexpr std::int64_t forest_scratch_bytes(const ForestCall& call, std::int64_t element_bytes) {
  return forest_tile_rows(call, element_bytes) * call.slots * element_bytes + kPanelBytes;
}

// ---- Places: elements in order, and rows of an operand.

enum TopKOrder : std::int64_t {
  kTopKAscending = 0,  // -0 and +0 are equal; all NaNs are equal, and larger than all numbers
  kTopKDescending = 1,
  kTopKTotalOrder = 2,  // -0 is smaller than +0
};

// tfaot_top_k: the first `count` elements of each row, in order, and their places in the row; equal
// elements stay in the row's order. in[1]: x[rows, size]; `out` is a void*[3] of values[rows,
// count], places[rows, count] of 32-bit integers, and scratch: top_k_scratch_bytes().
struct TopKCall {
  std::int64_t rows, size, count;
  std::int64_t order;  // values of TopKOrder, or-ed
};

// True if as many rows of float32 as a vector has lanes are searched together: that is faster for a
// few first elements of rows that are not very long.
constexpr std::int64_t kMostFirstTogether = 16;
constexpr bool are_rows_together(const TopKCall& call, std::int64_t lanes) {
  constexpr std::int64_t kFewestLanes = 8, kFewestElements = 4, kMostElements = 4096;
  return lanes >= kFewestLanes && call.rows >= lanes && call.count <= kMostFirstTogether &&
         2 * call.count <= call.size && call.size >= kFewestElements && call.size <= kMostElements;
}

// Keys and places, twice each.
constexpr std::int64_t top_k_scratch_bytes(const TopKCall& call, std::int64_t element_bytes) {
  return 4 * call.size * element_bytes + kPanelBytes;
}

enum PlaceType : std::int64_t {
  kPlacesInOrder = 0,  // there is no operand with places: row i takes row i
  kPlacesInt32 = 1,
  kPlacesInt64 = 2,
  kPlacesFloat32 = 3,  // rounded towards zero; a NaN is 0
  kPlacesFloat64 = 4,
  kPlacesRepeated = 5,  // no operand either: each row place_step times, and then each place_at of
                        // them together `places` times. Of tfaot_add_rows alone
};

// tfaot_gather: result[rows, row], each row of which consists of parts, one after the other. No
// scratch: `out` is the result. The struct is followed by its parts.
struct GatherCall {
  std::int64_t rows, row, parts;
};

// `elements` of each row. Row i takes those from x_at + place * x_step on of the operand in[x].
// place is element place_at + i * place_step of in[places], or the nearest of 0 to x_rows - 1.
struct GatherPart {
  std::int64_t x, x_at, x_step, x_rows;
  std::int64_t place_type;
  std::int64_t places, place_at, place_step;
  std::int64_t elements;
};

constexpr std::int64_t kMostAddedRows = 4;

// tfaot_add_rows: result[rows, row] = the sum of 2 to kMostAddedRows parts, each of `row` elements;
// with `relu` its larger one of 0. No scratch: `out` is the result. The struct is followed by its
// parts.
struct AddRowsCall {
  std::int64_t rows, row, parts;
  std::int64_t relu;  // 0 or 1
};

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
