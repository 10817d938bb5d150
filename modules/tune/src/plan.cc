// SPDX-License-Identifier: Apache-2.0
#include "tfaot/tune/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "level_plan.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {

namespace {

std::vector<std::uint64_t> picoseconds_of(const LevelCosts& costs) {
  return mapped(costs.ns, [&](const double ns) {
    return static_cast<std::uint64_t>(std::llround(ns * 1000));
  });
}

}  // namespace

LevelPlan::LevelPlan(const LevelCosts& costs)
    : picoseconds_(picoseconds_of(costs)),
      live_(costs.live),
      plan_(costs.sizes, picoseconds_, costs.live) {}

LevelPlan::Call LevelPlan::next(std::size_t rest) const {
  const std::size_t choice = plan_.next(rest);
  const std::vector<std::size_t>& sizes = plan_.sizes();
  const std::size_t rows = std::min(rest, sizes[choice]);
  const std::uint64_t cost = BatchPlan::call_cost(sizes, picoseconds_, live_, choice, rows);
  return {sizes[choice], static_cast<double>(cost) / 1000};
}

LevelCosts highest_level(const Manifest& manifest) {
  LevelCosts highest;
  if (!manifest.tuning) return highest;
  for (const std::string& level : manifest.cpu_levels) {
    LevelCosts costs = level_costs(*manifest.tuning, level);
    if (!costs.sizes.empty()) highest = std::move(costs);
  }
  return highest;
}

LevelCosts level_costs(const Tuning& tuning, const std::string& cpu_level) {
  LevelCosts costs{cpu_level, {}, {}, {}};
  for (const TunedCall& call : tuning.calls) {
    if (call.cpu_level != cpu_level) continue;
    costs.sizes.push_back(static_cast<std::size_t>(call.batch_size));
    costs.ns.push_back(call.ns);
    costs.live.push_back(call.live_permille);
  }
  return costs;
}

PlannedRows plan_rows(const LevelCosts& costs, std::size_t rows) {
  const LevelPlan plan(costs);
  PlannedRows planned;
  for (std::size_t rest = rows; rest > 0;) {
    const LevelPlan::Call call = plan.next(rest);
    planned.chunks.push_back(call.size);
    planned.padding = std::max(call.size, rest) - rest;
    planned.ns += call.ns;
    rest -= std::min(call.size, rest);
  }
  return planned;
}

std::string run_as_text(const PlannedRows& planned) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < planned.chunks.size();) {
    std::size_t count = 0;
    const std::size_t size = planned.chunks[i];
    while (i < planned.chunks.size() && planned.chunks[i] == size) ++i, ++count;
    parts.push_back(count == 1 ? std::to_string(size) : fmt::format("{} x {}", count, size));
  }
  const std::string padding =
      planned.padding == 0 ? "" : fmt::format(" ({} of padding)", planned.padding);
  return join(parts, ", ") + padding;
}

}  // namespace tfaot::toolkit
