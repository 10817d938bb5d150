// SPDX-License-Identifier: Apache-2.0
// Elements along a dimension that are computed from a few neighbours each: sums of `count` elements
// from `start` on, times weights. Pure functions.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tfaot::toolkit::engine {

struct Neighbours {
  std::int64_t in = 0;     // elements of the operand
  std::int64_t count = 1;  // the same for all results
  std::vector<std::int64_t> start;
  std::vector<double> weights;  // [results, count]

  std::int64_t out() const { return static_cast<std::int64_t>(start.size()); }
};

// The rows of a matrix: a weight for each element of the operand.
using WeightRows = std::vector<std::vector<double>>;

// With the smallest count that holds all weights but zeros.
Neighbours neighbours_of(const WeightRows& rows);

// Weights of a window for each result (i, j), as products of a weight of its row, which depends on
// i, and one of its column, which depends on j; nothing if they are no such products.
struct WindowWeights {
  std::int64_t rows, columns;                // results
  std::int64_t window_rows, window_columns;  // of each window
  std::function<double(std::int64_t i, std::int64_t j, std::int64_t row, std::int64_t column)> at;
};
struct SeparateWeights {
  WeightRows rows, columns;  // [i][row] and [j][column]
};
std::optional<SeparateWeights> separate(const WindowWeights& weights);

}  // namespace tfaot::toolkit::engine
