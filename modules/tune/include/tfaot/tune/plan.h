// SPDX-License-Identifier: Apache-2.0
// What a package does for a number of rows, and how long that takes: the runtime's own BatchPlan
// with measured costs. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/records/manifest.h"

namespace tfaot::toolkit {

// Costs of one CPU level, ascending by size.
struct LevelCosts {
  std::string cpu_level;
  std::vector<std::size_t> sizes;
  std::vector<double> ns;
  std::vector<std::uint32_t> live = {};  // thousandths that rows of padding do not cost; empty: 0
};

// The costs of the highest measured level; empty if none was measured.
LevelCosts highest_level(const Manifest& manifest);
// The costs of the level with this name; empty if it was not measured.
LevelCosts level_costs(const Tuning& tuning, const std::string& cpu_level);

struct PlannedRows {
  std::vector<std::size_t> chunks;  // in the order they run; the last may be padded
  std::size_t padding = 0;
  double ns = 0;
};
PlannedRows plan_rows(const LevelCosts& costs, std::size_t rows);

// "4 x 64, 1, 2 (1 of padding)"
std::string run_as_text(const PlannedRows& planned);

}  // namespace tfaot::toolkit
