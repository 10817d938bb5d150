// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shapes.h"

namespace tfaot::kernels_benchmark {

// Dense layers, one after the other, each with weights of its own: what a net's layers wait for.
struct Layers {
  Int count, rows, width;

  std::string name() const {
    return std::to_string(count) + "_of_" + std::to_string(rows) + "x" + std::to_string(width) +
           "x" + std::to_string(width);
  }
  double operations() const { return 2.0 * static_cast<double>(count * rows * width * width); }
};

inline std::vector<Layers> layers() {
  std::vector<Layers> all;
  for (const auto& [count, width] :
       {std::pair<Int, Int>{20, 128}, {10, 256}, {2, 1024}, {4, 2048}}) {
    for (const Int rows : {1, 4, 64}) all.push_back({count, rows, width});
  }
  return all;
}

}  // namespace tfaot::kernels_benchmark
