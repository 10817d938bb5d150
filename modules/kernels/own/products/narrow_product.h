// SPDX-License-Identifier: Apache-2.0
// A product with weights in fewer bits, and how its sums become results.
#pragma once

#include "products/narrow.h"
#include "simd/kernel.h"

namespace {

using tfaot::kernels::MatMulCall;

struct NarrowProduct {
  const MatMulCall& call;  // with the rows that count
  const float* a;
  const unsigned char* panels;
  const float* scale;  // null: none
  const float* bias;   // null: none
  float* c;
  Int c_row;  // from one row of c to the next
  float* scratch;
  Rectifier rectifier;
  bool is_near;  // the weights are a small part of the second-level cache
};

constexpr Int kColumns = kPanelColumns<float>;

// Panels that a row alone meets at a time, and that some rows do: loading one of their numbers
// takes as long as loading a vector of weights.
constexpr int kRowPanels = TFAOT_VECTOR_BYTES == 64 ? 4 : TFAOT_VECTOR_BYTES == 32 ? 2 : 1;
constexpr int kRowsPanels = TFAOT_VECTOR_BYTES == 64 ? 2 : 1;

template <typename Narrow>
constexpr Int narrow_panel_bytes(Int depth) {
  return ceil_div(depth, Narrow::kSteps) * Narrow::kGroupBytes;
}

// The columns from `at` on that vector v of a panel has. Not positive: none.
TFAOT_INLINE Int columns_of(Int columns, int v) {
  return smaller(kLanes<float>, columns - v * kLanes<float>);
}

// `count` results of a row, from its sums, which are already scaled.
TFAOT_INLINE void finish_sums(const NarrowProduct& p, Vec<float> sum, Int row, Int at, Int count) {
  if (p.bias != nullptr) sum += load_first(p.bias + at, count);
  store_first(p.c + row * p.c_row + at, rectified<float>(sum, p.rectifier), count);
}

}  // namespace
