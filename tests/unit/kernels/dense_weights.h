// SPDX-License-Identifier: Apache-2.0
// Weights as tfaot_dense_chain reads them.
#pragma once

#include <algorithm>
#include <memory>

#include "tests/unit/kernels/tensors.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::kernels_test {

// The weights of a layer of the call.
template <typename Value>
std::unique_ptr<Tensor<float>> packed(const kernels::DenseChainCall& call, Int depth, Int columns,
                                      const Value& value) {
  constexpr Int kLine = kernels::panel_columns(sizeof(float));
  if (!kernels::has_narrow_weights(call, depth, columns)) {
    auto panels = std::make_unique<Tensor<float>>(
        kernels::panel_count(columns, sizeof(float)) * depth * kLine, 64);
    pack(panels->data(), depth, columns, value);
    return panels;
  }
  const Int width = kernels::narrow_width(columns);
  auto narrow = std::make_unique<Tensor<float>>((depth * width + kLine - 1) / kLine * kLine, 64);
  std::fill_n(narrow->data(), narrow->size(), 0.0F);
  for (Int l = 0; l < depth; ++l) {
    for (Int j = 0; j < columns; ++j) (*narrow)[l * width + j] = value(l, j);
  }
  return narrow;
}

}  // namespace tfaot::kernels_test
