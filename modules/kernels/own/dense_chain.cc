// SPDX-License-Identifier: Apache-2.0
// tfaot_dense_chain of abi.h. Some rows go through all layers before the next ones do, so that what
// is between two layers stays in the first caches.
#include "tfaot/kernels/dense_chain.h"

#include "activate.h"
#include "few_rows.h"

namespace {

using tfaot::kernels::DenseChainCall;
using tfaot::kernels::DenseLayer;

// What a layer reads and writes; rows follow each other.
struct Rows {
  const float* from;
  float* to;
  Int count, depth;
};

// Whether tiles of a few rows are faster than those of gemm.cc, which take longer to set up: of
// layers that stay in the first cache with what they read, and are no output layers of a few
// columns.
TFAOT_INLINE bool is_small(const DenseLayer& layer, Int depth) {
  constexpr Int kSmall = TFAOT_VECTOR_BYTES >= 32 ? 4096 : 0;  // elements
  return depth * layer.columns <= kSmall && layer.columns > 8;
}

TFAOT_INLINE void run_layer(const DenseLayer& layer, const Rows& rows, const float* weights,
                            const float* bias) {
  const Rectifier rectifier = rectifier_of(layer.epilogue);
  if (rows.count <= kFewRows || is_small(layer, rows.depth)) {
    for (Int row = 0; row < rows.count;) {
      // As even as possible.
      const Int left = rows.count - row;
      const Int count = left <= kFewRows ? left : ceil_div(left, ceil_div(left, kFewRows));
      multiply_few_rows(count,
                        {rows.from + row * rows.depth, rows.depth, rows.depth, weights, bias,
                         rows.to + row * layer.columns, layer.columns, layer.columns, rectifier});
      row += count;
    }
  } else {
    Gemm g = plain_product(rows.count, rows.depth, rows.depth);
    g.a = rows.from;
    g.b = weights;
    g.c = rows.to;
    g.c_row = g.columns = layer.columns;
    g.bias = bias;
    g.rectifier = rectifier;
    TFAOT_KERNEL(gemm)(&g);
  }
  if (layer.function.kind != tfaot::kernels::kFunctionNone) {
    activate({rows.to, layer.columns, rows.count, layer.columns, &layer.function});
  }
}

}  // namespace

extern "C" void TFAOT_KERNEL(dense_chain)(void* out, const void** in) {
  const auto& call = *static_cast<const DenseChainCall*>(in[0]);
  const auto* const layers = static_cast<const DenseLayer*>(static_cast<const void*>(&call + 1));
  auto* const* const results = static_cast<void* const*>(out);
  auto* const result = static_cast<float*>(results[0]);
  const Int block_rows = tfaot::kernels::dense_chain_block_rows(call);
  auto* const scratch = static_cast<float*>(results[1]);
  const Int last = call.layers - 1;
  const Int out_columns = layers[last].columns;
  Int rows = call.rows;
  if (call.live_rows != 0) {
    Int operands = 2;
    for (Int i = 0; i <= last; ++i) {
      operands += (layers[i].epilogue & tfaot::kernels::kEpilogueBias) != 0 ? 2 : 1;
    }
    rows = smaller(rows, call.live_rows * *static_cast<const Int*>(in[operands]));
  }
  for (Int row = 0; row < rows;) {
    const Int count = smaller(block_rows, rows - row);
    Rows now = {static_cast<const float*>(in[1]) + row * call.depth, nullptr, count, call.depth};
    const void** operand = in + 2;
    for (Int i = 0; i <= last; ++i) {
      now.to = i == last ? result + row * out_columns : scratch + i % 2 * block_rows * call.widest;
      const auto* const weights = static_cast<const float*>(*operand++);
      const float* bias = nullptr;
      if ((layers[i].epilogue & tfaot::kernels::kEpilogueBias) != 0) {
        bias = static_cast<const float*>(*operand++);
      }
      run_layer(layers[i], now, weights, bias);
      now.from = now.to;
      now.depth = layers[i].columns;
    }
    row += count;
  }
}
