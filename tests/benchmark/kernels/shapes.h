// SPDX-License-Identifier: Apache-2.0
// The shapes that are measured, the same for every candidate.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tfaot::kernels_benchmark {

using Int = std::int64_t;

// rows x depth times depth x columns, `batch` times.
struct Product {
  Int batch, rows, depth, columns;
  bool packed;  // rhs are weights

  std::string name() const {
    return (batch > 1 ? std::to_string(batch) + "x" : "") + std::to_string(rows) + "x" +
           std::to_string(depth) + "x" + std::to_string(columns) +
           (packed ? "" : "_rhs_at_run_time");
  }
  double operations() const { return 2.0 * static_cast<double>(batch * rows * depth * columns); }
};

inline std::vector<Product> products() {
  std::vector<Product> all;
  for (const auto& [depth, columns] :
       {std::pair<Int, Int>{128, 128}, {256, 256}, {64, 64}, {64, 256}}) {
    for (const Int rows : {1, 2, 3, 5, 8, 16, 32, 64, 100, 128, 256, 1000}) {
      all.push_back({1, rows, depth, columns, true});
    }
  }
  all.push_back({1, 1000, 512, 512, true});
  all.push_back({1, 2048, 2048, 2048, true});
  all.push_back({1, 64, 128, 10, true});
  all.push_back({1, 128, 384, 1536, true});  // a transformer of width 384
  all.push_back({12, 128, 128, 32, false});
  all.push_back({16, 16, 16, 64, false});
  all.push_back({16, 16, 64, 16, false});
  return all;
}

// In float64, right sides packed ahead.
inline std::vector<Product> double_products() {
  std::vector<Product> all;
  for (const Int rows : {1, 8, 64, 1000}) all.push_back({1, rows, 128, 128, true});
  all.push_back({1, 256, 256, 256, true});
  return all;
}

// Square images and windows, stride 1, padding that keeps the size.
struct Image {
  Int batch, size, window, in_channels, out_channels;
  bool depthwise;

  std::string name() const {
    return std::to_string(batch) + "x" + std::to_string(size) + "x" + std::to_string(size) + "x" +
           std::to_string(in_channels) + "_" + std::to_string(window) + "x" +
           std::to_string(window) + (depthwise ? "_depthwise" : "x" + std::to_string(out_channels));
  }
  double operations() const {
    const Int terms = batch * size * size * window * window * out_channels;
    return 2.0 * static_cast<double>(depthwise ? terms : terms * in_channels);
  }
};

inline std::vector<Image> images() {
  return {{1, 28, 3, 3, 16, false},    {16, 28, 3, 3, 16, false},  {1, 14, 3, 16, 24, false},
          {16, 14, 3, 16, 24, false},  {16, 14, 1, 16, 24, false}, {16, 14, 1, 64, 64, false},
          {16, 14, 3, 64, 64, false},  {16, 14, 3, 64, 64, true},  {16, 14, 3, 24, 24, true},
          {1, 7, 3, 960, 960, true},   {1, 28, 5, 120, 120, true}, {1, 56, 3, 64, 64, false},
          {1, 28, 3, 128, 128, false},  // ResNet-50
          {1, 14, 3, 256, 256, false}, {1, 7, 3, 512, 512, false}};
}

// Transposed convolutions that make images `stride` times as large.
struct Transposed {
  Int batch, size, window, stride, in_channels, out_channels;

  std::string name() const {
    return std::to_string(batch) + "x" + std::to_string(size) + "x" + std::to_string(size) + "x" +
           std::to_string(in_channels) + "_" + std::to_string(window) + "x" +
           std::to_string(window) + "x" + std::to_string(out_channels) + "_stride_" +
           std::to_string(stride);
  }
  // Without zeros between the elements.
  double operations() const {
    return 2.0 *
           static_cast<double>(batch * size * size * window * window * in_channels * out_channels);
  }
};

inline std::vector<Transposed> transposed_images() {
  return {{1, 8, 2, 2, 64, 32},
          {16, 8, 2, 2, 64, 32},
          {16, 16, 2, 2, 32, 16},
          {16, 14, 3, 2, 24, 24},
          {16, 14, 4, 2, 32, 32}};
}

// Bilinear, to images twice as large.
struct Resized {
  Int batch, size, channels;

  std::string name() const {
    return std::to_string(batch) + "x" + std::to_string(size) + "x" + std::to_string(size) + "x" +
           std::to_string(channels) + "_twice";
  }
  // Rows first: half as many sums as columns need.
  double operations() const {
    return 2.0 * static_cast<double>(batch * size * size * channels * 12);
  }
};

inline std::vector<Resized> resized_images() { return {{1, 16, 32}, {16, 16, 32}, {16, 14, 3}}; }

// 20 steps of a recurrent layer. Without features it gets products, else it multiplies itself.
struct Recurrence {
  Int rows, hidden, features;
  static constexpr Int kSteps = 20;

  std::string name() const {
    return std::to_string(rows) + "x" + std::to_string(hidden) +
           (features != 0 ? "_from_" + std::to_string(features) : "");
  }
  double operations(Int gates) const {
    return 2.0 * static_cast<double>(kSteps * rows * gates * hidden * (features + hidden));
  }
};

inline std::vector<Recurrence> recurrences() {
  return {{1, 64, 0},   {4, 64, 0},    {16, 64, 0}, {4, 64, 16},
          {16, 64, 16}, {256, 64, 16}, {1, 256, 0}, {16, 256, 64}};
}

}  // namespace tfaot::kernels_benchmark
