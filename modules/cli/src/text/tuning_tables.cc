// SPDX-License-Identifier: Apache-2.0
#include "text/tuning_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

constexpr std::array<std::size_t, 12> kShownRows = {1, 2, 3, 5, 8, 16, 32, 64, 100, 128, 256, 1000};

// "4 x 64, 1, 2 (1 of padding)"
std::string chunks_text(const PlannedRows& planned) {
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

}  // namespace

std::string microseconds(double ns) { return fmt::format("{:.3f}", ns / 1000); }

std::vector<TunedCall> calls_by_level(const Tuning& tuning) {
  std::vector<TunedCall> calls = tuning.calls;
  std::stable_sort(calls.begin(), calls.end(), [](const TunedCall& a, const TunedCall& b) {
    return a.cpu_level < b.cpu_level;
  });
  return calls;
}

ShownPlans shown_plans(const Manifest& manifest) {
  ShownPlans shown;
  if (manifest.rows == RowsMode::kCoupled) return shown;
  const LevelCosts level = highest_level(manifest);
  if (level.sizes.empty()) return shown;
  shown.cpu_level = level.cpu_level;
  for (const std::size_t rows : kShownRows) {
    const PlannedRows planned = plan_rows(level, rows);
    shown.plans.push_back({rows, planned.ns, chunks_text(planned)});
  }
  return shown;
}

}  // namespace tfaot::toolkit
