// SPDX-License-Identifier: Apache-2.0
#include "text/tuning_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tfaot::toolkit {
namespace {

constexpr std::array<std::size_t, 12> kTunedRows = {1, 2, 3, 5, 8, 16, 32, 64, 100, 128, 256, 1000};

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
  for (const std::size_t rows : kTunedRows) {
    const PlannedRows planned = plan_rows(level, rows);
    shown.plans.push_back({rows, planned.ns, run_as_text(planned)});
  }
  return shown;
}

}  // namespace tfaot::toolkit
