// SPDX-License-Identifier: Apache-2.0
// Shapes for kernels that go over rows: softmax, layer normalisation, sums, gelu.
#pragma once

#include "shapes.h"

namespace tfaot::kernels_benchmark {

struct Rows {
  Int rows, columns;

  std::string name() const { return std::to_string(rows) + "x" + std::to_string(columns); }
};

// One row, an output, an autoencoder, scores of attention, features of a mixer and a transformer.
inline std::vector<Rows> rows() {
  return {{1, 128}, {64, 5}, {256, 57}, {1024, 16}, {8192, 64}, {512, 64}, {1024, 128}, {64, 1024}};
}

}  // namespace tfaot::kernels_benchmark
