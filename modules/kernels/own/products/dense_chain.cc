// SPDX-License-Identifier: Apache-2.0
// tfaot_dense_chain of abi.h. Some rows go through all layers before the next ones do, so that
// intermediate results stay in the first caches.
#include "products/few_rows.h"

namespace {

// The input and output of a layer; rows are contiguous.
struct Rows {
  const float* from;
  float* to;
  Int count, depth;
};

// kAlone: rows.count is 1. The product is part of the loop over layers then: calling it takes a
// tenth of the time of small nets.
template <bool kAlone>
TFAOT_INLINE void run_layer(const DenseLayer& layer, const Rows& rows, const float* weights,
                            const float* bias) {
  const PlainProduct product =
      packed_product(rows.count, {rows.from, rows.depth, rows.depth}, weights, bias,
                     {rows.to, layer.columns, layer.columns}, rectifier_of(layer.epilogue));
  kAlone ? multiply_few<1>(product) : TFAOT_KERNEL(plain_product)(&product);
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

// Computes the next `count` rows. kAlone: one.
template <bool kAlone>
void run_rows(const Chain& chain, Int row, Int count, Int block_rows) {
  const Int last = chain.call.layers - 1;
  const void** next = chain.weights;
  Rows now = {chain.x + row * chain.call.depth, nullptr, count, chain.call.depth};
  for (Int i = 0; i <= last; ++i) {
    const DenseLayer& layer = chain.layers[i];
    now.to = i == last ? chain.result + row * layer.columns
                       : chain.scratch + i % 2 * block_rows * chain.call.widest;
    const auto* const weights = static_cast<const float*>(*next++);
    run_layer<kAlone>(layer, now, weights, bias_at(layer.epilogue, next));
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
  if (rows == 1) return run_rows<true>(chain, 0, 1, 1);
  const Int block_rows = dense_chain_block_rows(call);
  for (Int row = 0; row < rows; row += block_rows) {
    run_rows<false>(chain, row, smaller(block_rows, rows - row), block_rows);
  }
}
