// SPDX-License-Identifier: Apache-2.0
// Shapes for kernels that find elements and move rows.
#pragma once

#include "shapes.h"

namespace tfaot::kernels_benchmark {

// The largest `count` of `size` elements, in each row.
struct Selected {
  Int rows, size, count;

  std::string name() const {
    return std::to_string(count) + "_of_" + std::to_string(rows) + "x" + std::to_string(size);
  }
  double operations() const { return static_cast<double>(rows * size); }
};

inline std::vector<Selected> selections() {
  return {{180, 60, 17}, {100, 100, 16}, {16, 2000, 16}, {16, 2000, 2000}};
}

// Rows of a table, by their numbers. Several tables: rows of all of them, one after the other.
struct Gathered {
  Int rows, table, elements, parts;

  std::string name() const {
    return (parts > 1 ? std::to_string(parts) + "x" : "") + std::to_string(rows) + "_of_" +
           std::to_string(table) + "x" + std::to_string(elements);
  }
  double operations() const { return static_cast<double>(rows * parts * elements); }
};

inline std::vector<Gathered> gathers() {
  return {{960, 60, 48, 1}, {960, 60, 64, 1}, {64, 1000, 20, 1}, {64, 100, 8, 8}, {256, 100, 8, 8}};
}

}  // namespace tfaot::kernels_benchmark
