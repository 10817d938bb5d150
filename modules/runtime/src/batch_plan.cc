// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/batch_plan.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "tfaot/runtime/error.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace {

// The table ends at this number of rows at the latest, or at twice the largest size. It usually
// ends far earlier, unless the sizes have no common factor and the same cost per row. Beyond it, a
// plan costs at most one call of the steady size more than the best plan: the steady size alone is
// that good.
constexpr std::size_t kLongestTable = 1 << 16;

std::vector<std::uint64_t> default_costs(const std::vector<std::size_t>& sizes) {
  std::vector<std::uint64_t> costs;
  costs.reserve(sizes.size());
  for (const std::size_t size : sizes) costs.push_back(size + 1);
  return costs;
}

// Scales costs down until the sums of a table fit.
void scale_down(std::vector<std::uint64_t>& costs) {
  const std::uint64_t largest = *std::max_element(costs.begin(), costs.end());
  int shift = 0;
  while (largest >> shift >> 40 != 0) ++shift;
  for (std::uint64_t& cost : costs) cost >>= shift;
}

// The index of the size with the lowest cost per row; ties go to the largest.
std::size_t cheapest_row(const std::vector<std::size_t>& sizes,
                         const std::vector<std::uint64_t>& costs) {
  std::size_t best = 0;
  for (std::size_t i = 1; i < sizes.size(); ++i) {
    const double row_cost = static_cast<double>(costs[i]) * static_cast<double>(sizes[best]);
    if (row_cost <= static_cast<double>(costs[best]) * static_cast<double>(sizes[i])) best = i;
  }
  return best;
}

// The cost of `rows` rows as if they were a compiled size, interpolated between its neighbours.
// REQUIRES: rows is below the largest size.
std::uint64_t cost_between(const std::vector<std::size_t>& sizes,
                           const std::vector<std::uint64_t>& costs, std::size_t rows) {
  const auto above =
      static_cast<std::size_t>(std::lower_bound(sizes.begin(), sizes.end(), rows) - sizes.begin());
  if (above == 0 || costs[above] <= costs[above - 1]) return costs[above];
  const std::size_t below = above - 1;
  return costs[below] +
         (costs[above] - costs[below]) * (rows - sizes[below]) / (sizes[above] - sizes[below]);
}

}  // namespace

BatchPlan::BatchPlan(std::vector<std::size_t> sizes) : BatchPlan(sizes, default_costs(sizes)) {}

// best[rest] = min over i of costs[i] + best[rest - sizes[i]]. If the steady size s is a right
// choice for as many consecutive rests as the largest size has rows, it is right for all that
// follow: each rest - sizes[i] is then one of those, so best[rest - sizes[i]] = cost(s) + best[rest
// - sizes[i] - s], and best[rest] = cost(s) + best[rest - s]. This always happens: among any s
// chunks there are some whose rows add up to a multiple of s, and s alone computes those rows at no
// higher cost.
BatchPlan::BatchPlan(std::vector<std::size_t> sizes, std::vector<std::uint64_t> costs,
                     const std::vector<std::uint32_t>& live)
    : sizes_(std::move(sizes)) {
  if (sizes_.empty()) throw Error(Category::kEmptySizes, "a batch plan needs at least one size");
  scale_down(costs);
  steady_ = cheapest_row(sizes_, costs);
  const std::size_t end = std::max(kLongestTable, 2 * sizes_.back());
  std::vector<std::uint64_t> best = {0};  // cost of `rest` rows
  next_ = {0};
  std::size_t steady_rests = 0;  // in a row
  for (std::size_t rest = 1; rest < end && steady_rests < sizes_.back(); ++rest) {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    std::size_t choice = 0;
    const auto consider = [&](std::size_t i) {
      const std::uint64_t cost = sizes_[i] < rest ? costs[i] + best[rest - sizes_[i]]
                                                  : call_cost(sizes_, costs, live, i, rest);
      if (cost >= least) return;
      least = cost;
      choice = i;
    };
    // Ties go to the steady size, then to the largest without padding, then to the least padding.
    const auto padded = static_cast<std::size_t>(
        std::upper_bound(sizes_.begin(), sizes_.end(), rest) - sizes_.begin());
    if (steady_ < padded) consider(steady_);
    for (std::size_t i = padded; i-- > 0;) consider(i);
    for (std::size_t i = padded; i < sizes_.size(); ++i) consider(i);
    best.push_back(least);
    next_.push_back(static_cast<std::uint16_t>(choice));
    steady_rests = choice == steady_ ? steady_rests + 1 : 0;
  }
  while (next_.size() > 1 && next_.back() == steady_) next_.pop_back();
  next_.shrink_to_fit();
}

std::uint64_t BatchPlan::call_cost(const std::vector<std::size_t>& sizes,
                                   const std::vector<std::uint64_t>& costs,
                                   const std::vector<std::uint32_t>& live, std::size_t i,
                                   std::size_t rows) {
  if (sizes[i] == rows || live.empty() || live[i] == 0) return costs[i];
  const std::uint64_t less = cost_between(sizes, costs, rows);
  return less >= costs[i] ? costs[i] : costs[i] - (costs[i] - less) * live[i] / 1000;
}

BatchPlan BatchPlan::of_coupled_rows(std::vector<std::size_t> sizes) {
  BatchPlan plan(std::move(sizes));
  plan.composes_ = false;
  plan.next_.assign(plan.sizes_.back() + 1, 0);
  for (std::size_t i = 0; i < plan.sizes_.size(); ++i) {
    plan.next_[plan.sizes_[i]] = static_cast<std::uint16_t>(i);
  }
  return plan;
}

void BatchPlan::check(std::size_t rows, const char* model) const {
  if (composes_ || std::binary_search(sizes_.begin(), sizes_.end(), rows)) return;
  std::string known;
  for (const std::size_t size : sizes_) known += (known.empty() ? "" : ", ") + std::to_string(size);
  throw Error(Category::kUnknownBatchSize,
              "model '" + std::string(model) + "': " + std::to_string(rows) +
                  " rows cannot be run, because rows of a batch depend on each other "
                  "(compilation.rows: coupled); compiled batch sizes: " +
                  known);
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
