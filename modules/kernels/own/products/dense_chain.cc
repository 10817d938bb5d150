// SPDX-License-Identifier: Apache-2.0
// tfaot_dense_chain of abi.h. Some rows go through all layers before the next ones do, so that
// intermediate results stay in the first caches.
#include "products/gemm.h"
#include "products/stream.h"

namespace {

// The input and output of a layer; rows are contiguous.
struct Rows {
  const float* from;
  float* to;
  Int count, depth;
};

// True if tiles of a few rows are faster than those of gemm.cc, which take longer to set up: for
// layers that stay in the first cache with their input, other than output layers of a few columns.
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
  if (layer.function.kind != kFunctionNone) {
    activate({rows.to, layer.columns, rows.count, layer.columns, &layer.function});
  }
}

// The input and output of a chain.
struct Chain {
  const DenseChainCall& call;
  const DenseLayer* layers;
  const void** weights;  // of each layer, and its bias if it has one
  const float* x;
  float* result;
  float* scratch;
};

// Computes all layers of a row. NP and VECTORS: as in stream.h. Weights are not prefetched: a
// net whose weights do not stay in the second-level cache takes 1.1 of its time then (20 layers of
// 128).
template <int NP, int VECTORS>
__attribute__((noinline)) void run_row(const Chain& chain, Int row) {
  const DenseLayer* layer = chain.layers;
  const void** next = chain.weights;
  float* scratch = chain.scratch;
  float* other = scratch + chain.call.widest;
  RowInput<NP> in = row_input<NP>(chain.x + row * chain.call.depth, chain.call.depth);
  for (Int left = chain.call.layers; left > 0; --left, ++layer) {
    const Int columns = layer->columns;
    float* const to = left == 1 ? chain.result + row * columns : scratch;
    const auto* const weights = static_cast<const float*>(*next++);
    const float* const bias = bias_at(layer->epilogue, next);
    const RowProduct product = {weights, bias, to, columns, rectifier_of(layer->epilogue)};
    if (has_narrow_weights(chain.call, in.depth, columns)) {
      in = multiply_narrow(in, product);
    } else {
      in = multiply_by_panels<false, VECTORS>(in, product);
    }
    if (layer->function.kind != kFunctionNone) {
      activate({to, columns, 1, columns, &layer->function});
      in = row_input<NP>(to, columns);
    }
    float* const free = other;
    other = scratch;
    scratch = free;
  }
}

TFAOT_INLINE void run_row(const Chain& chain, Int row) {
#if TFAOT_VECTOR_BYTES == 64
  if (chain.call.weights_in == kWeightsInFirstCache) return run_row<kRowPanels, 1>(chain, row);
  if (chain.call.weights_in == kWeightsInSecondCache) {
    return run_row<kRowPanels, kRowVectors>(chain, row);
  }
#endif
  run_row<1, 1>(chain, row);
}

// Computes the next `count` rows, at least two.
void run_rows(const Chain& chain, Int row, Int count, Int block_rows) {
  const Int last = chain.call.layers - 1;
  const void** next = chain.weights;
  Rows now = {chain.x + row * chain.call.depth, nullptr, count, chain.call.depth};
  for (Int i = 0; i <= last; ++i) {
    const DenseLayer& layer = chain.layers[i];
    now.to = i == last ? chain.result + row * layer.columns
                       : chain.scratch + i % 2 * block_rows * chain.call.widest;
    const auto* const weights = static_cast<const float*>(*next++);
    run_layer(layer, now, weights, bias_at(layer.epilogue, next));
    now.from = now.to;
    now.depth = layer.columns;
  }
}

// The number of rows that count.
TFAOT_INLINE Int rows_of(const Chain& chain) {
  const DenseChainCall& call = chain.call;
  if (call.live_rows == 0) return call.rows;
  const void** next = chain.weights;
  TFAOT_ROLLED_FOR (Int i = 0; i < call.layers; ++i) bias_at(chain.layers[i].epilogue, ++next);
  return live_rows(call.rows, call.live_rows, next);
}

}  // namespace

extern "C" void TFAOT_KERNEL(dense_chain)(void* out, const void** in) {
  const auto& call = call_of<DenseChainCall>(in);
  const Chain chain = {
      call,           static_cast<const DenseLayer*>(static_cast<const void*>(&call + 1)),
      in + 2,         operand(in, 1),
      result(out, 0), result(out, 1)};
  const Int rows = rows_of(chain);
  if (rows == 1) return run_row(chain, 0);  // without the divisions that follow
  const Int block_rows = dense_chain_block_rows(call);
  for (Int row = 0; row < rows;) {
    const Int count = smaller(block_rows, rows - row);
    if (count == 1) {
      run_row(chain, row);
    } else {
      run_rows(chain, row, count, block_rows);
    }
    row += count;
  }
}
