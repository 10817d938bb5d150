// SPDX-License-Identifier: Apache-2.0
#include "tfaot/tune/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "level_plan.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {

BatchPlan plan_of(const LevelCosts& costs) {
  std::vector<std::uint64_t> picoseconds;
  for (const double ns : costs.ns) {
    picoseconds.push_back(static_cast<std::uint64_t>(std::llround(ns * 1000)));
  }
  return BatchPlan(costs.sizes, std::move(picoseconds));
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
  LevelCosts costs{cpu_level, {}, {}};
  for (const TunedCall& call : tuning.calls) {
    if (call.cpu_level != cpu_level) continue;
    costs.sizes.push_back(static_cast<std::size_t>(call.batch_size));
    costs.ns.push_back(call.ns);
  }
  return costs;
}

PlannedRows plan_rows(const LevelCosts& costs, std::size_t rows) {
  const BatchPlan plan = plan_of(costs);
  PlannedRows planned;
  for (std::size_t rest = rows; rest > 0;) {
    const std::size_t choice = plan.next(rest);
    const std::size_t size = costs.sizes[choice];
    planned.chunks.push_back(size);
    planned.padding = std::max(size, rest) - rest;
    planned.ns += costs.ns[choice];
    rest -= std::min(size, rest);
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
