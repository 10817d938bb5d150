// SPDX-License-Identifier: Apache-2.0
// Shapes for kernels that slide a window over each channel alone.
#pragma once

#include "shapes.h"

namespace tfaot::kernels_benchmark {

// Depthwise convolutions along a sequence, padding that keeps its length.
struct Sequence {
  Int batch, size, window, dilation, channels;

  std::string name() const {
    return std::to_string(batch) + "x" + std::to_string(size) + "x" + std::to_string(channels) +
           "_" + std::to_string(window) + "_dilated_" + std::to_string(dilation);
  }
  double operations() const { return 2.0 * static_cast<double>(batch * size * window * channels); }
};

inline std::vector<Sequence> sequences() {
  return {{16, 128, 5, 1, 32}, {16, 128, 5, 8, 32}, {16, 128, 5, 8, 24}, {16, 128, 9, 1, 32}};
}

// Max pooling. With stride 1, padding keeps the size.
struct Pooling {
  Int batch, size, channels;
  Int window = 2, stride = 2;

  std::string name() const {
    return std::to_string(batch) + "x" + std::to_string(size) + "x" + std::to_string(size) + "x" +
           std::to_string(channels) + "_" + std::to_string(window) + "x" + std::to_string(window) +
           "_stride_" + std::to_string(stride);
  }
  double operations() const { return static_cast<double>(batch * size * size * channels); }
};

inline std::vector<Pooling> poolings() {
  return {{1, 28, 16},        {16, 28, 16},       {16, 14, 24},       {1, 56, 64},
          {16, 28, 16, 3, 1}, {1, 28, 192, 3, 1}, {16, 28, 16, 3, 2}, {1, 56, 64, 3, 2}};
}

// Sums over all positions.
struct Summed {
  Int batch, positions, channels;

  std::string name() const {
    return std::to_string(batch) + "x" + std::to_string(positions) + "x" + std::to_string(channels);
  }
  double operations() const { return static_cast<double>(batch * positions * channels); }
};

inline std::vector<Summed> sums() { return {{16, 128, 32}, {16, 49, 24}}; }

}  // namespace tfaot::kernels_benchmark
