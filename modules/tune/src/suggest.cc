// SPDX-License-Identifier: Apache-2.0
#include "tfaot/tune/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "level_plan.h"
#include "size_costs.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// The cost of the sizes for the requested rows. REQUIRES: sizes is not empty.
SizeSet evaluate(std::vector<SizeCost> sizes, const std::map<std::size_t, double>& rows) {
  LevelCosts costs;
  SizeSet set;
  for (const SizeCost& size : sizes) {
    costs.sizes.push_back(size.size);
    costs.ns.push_back(size.ns);
    costs.live.push_back(size.live_permille);
    set.bytes += size.bytes;
  }
  const LevelPlan plan(costs);
  std::vector<double> ns = {0};  // by rows
  for (std::size_t rest = 1; rest <= rows.rbegin()->first; ++rest) {
    const LevelPlan::Call call = plan.next(rest);
    ns.push_back(call.ns + ns[rest - std::min(rest, call.size)]);
  }
  double weights = 0;
  double all_rows = 0;
  double all_ns = 0;
  for (const auto& [count, weight] : rows) {
    weights += weight;
    all_rows += weight * static_cast<double>(count);
    all_ns += weight * ns[count];
  }
  set.sizes = std::move(sizes);
  set.ns = all_ns / weights;
  set.row_ns = all_ns / all_rows;
  return set;
}

// The compiled sizes, and powers of two from the smallest to the largest number of rows.
std::set<std::size_t> default_candidates(const std::vector<SizeCost>& compiled,
                                         const std::map<std::size_t, double>& rows) {
  std::set<std::size_t> sizes;
  for (const SizeCost& cost : compiled) sizes.insert(cost.size);
  for (std::size_t size = 1; size < 2 * rows.rbegin()->first; size *= 2) {
    if (sizes.size() < kMostCandidates) sizes.insert(size);
  }
  return sizes;
}

bool within(const SuggestOptions& options, const std::vector<SizeCost>& sizes) {
  std::uint64_t bytes = 0;
  for (const SizeCost& size : sizes) bytes += size.bytes;
  return (options.max_bytes == 0 || bytes <= options.max_bytes) &&
         (options.max_sizes == 0 || sizes.size() <= options.max_sizes);
}

std::vector<SizeSet> possible_sets(const std::vector<SizeCost>& candidates,
                                   const SuggestOptions& options) {
  std::vector<SizeSet> sets;
  for (std::size_t mask = 1; mask < std::size_t{1} << candidates.size(); ++mask) {
    std::vector<SizeCost> sizes;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if ((mask >> i & 1) != 0) sizes.push_back(candidates[i]);
    }
    if (within(options, sizes)) sets.push_back(evaluate(std::move(sizes), options.rows));
  }
  return sets;
}

Status check(const SuggestOptions& options) {
  if (options.rows.empty() || options.rows.begin()->first == 0 ||
      options.rows.rbegin()->first > kMostRows) {
    return fail(Error::usage(fmt::format("numbers of rows must be from 1 to {}", kMostRows)));
  }
  return {};
}

}  // namespace

Result<Suggestion> suggest_sizes(const Manifest& manifest, const SuggestOptions& options,
                                 const std::string& where) {
  TFAOT_TRY(check(options));
  if (!manifest.tuning || manifest.tuning->calls.empty()) {
    return fail(Error::at({where}, "nothing was measured yet, so nothing can be suggested")
                    .note("run 'tfaot tune' on the package first"));
  }
  const LevelCosts costs = options.cpu_level.empty()
                               ? highest_level(manifest)
                               : level_costs(*manifest.tuning, options.cpu_level);
  if (costs.sizes.empty()) {
    return fail(
        Error::at({where}, fmt::format("CPU level '{}' was not measured", options.cpu_level)));
  }
  const std::vector<SizeCost> compiled = compiled_sizes(manifest, costs);
  std::set<std::size_t> sizes(options.candidates.begin(), options.candidates.end());
  if (sizes.empty()) sizes = default_candidates(compiled, options.rows);
  if (sizes.size() > kMostCandidates) {
    return fail(Error::usage(fmt::format("{} sizes are too many to choose from", sizes.size()))
                    .note(fmt::format("name up to {} with --candidates", kMostCandidates)));
  }

  std::vector<SizeSet> sets = possible_sets(
      mapped(sizes, [&](const std::size_t size) { return size_cost(compiled, size); }), options);
  if (sets.empty()) {
    return fail(
        Error::usage("no batch size fits into the limits").note("allow more by --max-bytes"));
  }
  const double enough = std::ranges::min_element(sets, {}, &SizeSet::ns)->ns * (1 + kSuggestSlack);
  std::erase_if(sets, [enough](const SizeSet& set) { return set.ns > enough; });
  const auto best = std::ranges::min_element(
      sets, {}, [](const SizeSet& set) { return std::tuple(set.bytes, set.sizes.size(), set.ns); });
  return Suggestion{costs.cpu_level, std::move(*best), evaluate(compiled, options.rows)};
}

}  // namespace tfaot::toolkit
