// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/neighbours.h"

#include <algorithm>
#include <cmath>

namespace tfaot::toolkit::engine {
Neighbours neighbours_of(const WeightRows& rows) {
  Neighbours found;
  found.in = static_cast<std::int64_t>(rows.front().size());
  const auto is_some = [](double weight) { return weight != 0; };
  std::vector<std::int64_t> ends;
  for (const auto& row : rows) {
    const auto first = std::find_if(row.begin(), row.end(), is_some);
    const auto last = std::find_if(row.rbegin(), row.rend(), is_some);
    const std::int64_t start = first == row.end() ? 0 : first - row.begin();
    const std::int64_t end = first == row.end() ? 1 : row.rend() - last;
    found.start.push_back(start);
    found.count = std::max(found.count, end - start);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    found.start[i] = std::min(found.start[i], found.in - found.count);
    const auto begin = rows[i].begin() + found.start[i];
    found.weights.insert(found.weights.end(), begin, begin + found.count);
  }
  return found;
}

std::optional<SeparateWeights> separate(const WindowWeights& weights) {
  SeparateWeights found;
  found.rows.assign(static_cast<std::size_t>(weights.rows),
                    std::vector<double>(static_cast<std::size_t>(weights.window_rows)));
  found.columns.assign(static_cast<std::size_t>(weights.columns),
                       std::vector<double>(static_cast<std::size_t>(weights.window_columns)));
  const auto row = [&](std::int64_t i, std::int64_t k) -> double& {
    return found.rows[static_cast<std::size_t>(i)][static_cast<std::size_t>(k)];
  };
  const auto column = [&](std::int64_t j, std::int64_t l) -> double& {
    return found.columns[static_cast<std::size_t>(j)][static_cast<std::size_t>(l)];
  };
  // visit(k, l) for the whole window.
  const auto window = [&](const auto& visit) {
    for (std::int64_t k = 0; k < weights.window_rows; ++k) {
      for (std::int64_t l = 0; l < weights.window_columns; ++l) visit(k, l);
    }
  };
  double all = 0;
  window([&](std::int64_t k, std::int64_t l) { all += weights.at(0, 0, k, l); });
  if (all == 0) return {};
  for (std::int64_t i = 0; i < weights.rows; ++i) {
    window([&](std::int64_t k, std::int64_t l) { row(i, k) += weights.at(i, 0, k, l); });
  }
  for (std::int64_t j = 0; j < weights.columns; ++j) {
    window([&](std::int64_t k, std::int64_t l) { column(j, l) += weights.at(0, j, k, l) / all; });
  }
  constexpr double kRounding = 1e-5;
  bool is_product = true;
  for (std::int64_t i = 0; i < weights.rows; ++i) {
    for (std::int64_t j = 0; j < weights.columns; ++j) {
      window([&](std::int64_t k, std::int64_t l) {
        const double difference = weights.at(i, j, k, l) - row(i, k) * column(j, l);
        is_product = is_product && std::abs(difference) <= kRounding;
      });
    }
  }
  if (!is_product) return {};
  return found;
}

}  // namespace tfaot::toolkit::engine
