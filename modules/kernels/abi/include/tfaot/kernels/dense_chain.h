// SPDX-License-Identifier: Apache-2.0
// The call of tfaot_dense_chain; abi.h says what calls are.
#pragma once

#include <cstdint>

#include "tfaot/kernels/functions.h"
#include "tfaot/kernels/panels.h"

namespace tfaot {
inline namespace v1 {
namespace kernels {

// tfaot_dense_chain (float32): dense layers, each of the results of the one before. A layer makes
// function(x W + bias) of x[rows, depth]; the next layer's depth is its columns. in[1]: the first
// x, then for each layer its packed weights and, with kEpilogueBias, its bias[columns]. Result:
// that of the last layer, [rows, columns]. The layers follow the struct. live_rows is as in
// MatMulCall. Scratch: dense_chain_scratch_bytes().
struct DenseChainCall {
  std::int64_t rows, depth, layers;
  std::int64_t widest;      // the most columns of a layer before the last
  std::int64_t live_rows;   // rows for each row of the model's batch; 0: all rows count
  std::int64_t weights_in;  // a WeightsPlace: how a row alone reads them fastest
};
// The cache that all weights of the model stay in between calls.
enum WeightsPlace : std::int64_t { kWeightsFurther, kWeightsInFirstCache, kWeightsInSecondCache };
struct DenseLayer {
  std::int64_t columns;
  std::int64_t epilogue;  // kEpilogueBias, and kEpilogueRelu or kEpilogueRelu6 without function
  ResultFunction function;
};

// Weights of a few columns in a call of one row are narrow, not in a panel: [depth, width], padded
// with zeros to whole lines of kPanelBytes. With a small depth that is not faster.
inline constexpr std::int64_t kMostNarrowColumns = 8;
constexpr bool has_narrow_weights(const DenseChainCall& call, std::int64_t depth,
                                  std::int64_t columns) {
  constexpr std::int64_t kLeastDepth = 32;
  return call.rows == 1 && columns <= kMostNarrowColumns && depth >= kLeastDepth;
}
constexpr std::int64_t narrow_width(std::int64_t columns) { return columns <= 4 ? 4 : 8; }

// Rows that go through all layers together: what is between two layers stays in the first caches.
constexpr std::int64_t dense_chain_block_rows(const DenseChainCall& call) {
  constexpr std::int64_t kElements = 8192;
  constexpr std::int64_t kUnit = 24;  // a multiple of all levels' tiles
  const std::int64_t fit = kElements / call.widest / kUnit * kUnit;
  const std::int64_t rows = fit < kUnit ? kUnit : fit;
  return rows < call.rows ? rows : call.rows;
}
// What goes into a layer and what comes out of it.
constexpr std::int64_t dense_chain_scratch_bytes(const DenseChainCall& call) {
  constexpr std::int64_t kElementBytes = 4;
  return 2 * dense_chain_block_rows(call) * call.widest * kElementBytes + kPanelBytes;
}

}  // namespace kernels
}  // namespace v1
}  // namespace tfaot
