// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/batch_plan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tfaot/runtime/error.h"

namespace tfaot {
inline namespace v1 {
namespace {

std::vector<double> default_costs(const std::vector<std::size_t>& sizes) {
  std::vector<double> costs;
  costs.reserve(sizes.size());
  for (const std::size_t size : sizes) costs.push_back(static_cast<double>(size) + 1);
  return costs;
}

}  // namespace

BatchPlan::BatchPlan(std::vector<std::size_t> sizes) : BatchPlan(sizes, default_costs(sizes)) {}

BatchPlan::BatchPlan(std::vector<std::size_t> sizes, const std::vector<double>& costs)
    : sizes_(std::move(sizes)) {
  if (sizes_.empty()) throw Error(Category::kEmptySizes, "a batch plan needs at least one size");
  std::vector<double> best(2 * sizes_.back(), 0);  // cost of `rest` rows
  next_.resize(best.size());
  for (std::size_t rest = 1; rest < best.size(); ++rest) {
    best[rest] = std::numeric_limits<double>::infinity();
    const auto consider = [&](std::size_t i) {
      const double cost = costs[i] + (sizes_[i] < rest ? best[rest - sizes_[i]] : 0);
      if (cost >= best[rest]) return;
      best[rest] = cost;
      next_[rest] = static_cast<std::uint32_t>(i);
    };
    // Of equals, the larger without padding, then the one with the least.
    const auto padded = std::upper_bound(sizes_.begin(), sizes_.end(), rest) - sizes_.begin();
    for (std::size_t i = static_cast<std::size_t>(padded); i-- > 0;) consider(i);
    for (std::size_t i = static_cast<std::size_t>(padded); i < sizes_.size(); ++i) consider(i);
  }
}

}  // namespace v1
}  // namespace tfaot
