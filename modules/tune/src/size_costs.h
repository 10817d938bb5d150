// SPDX-License-Identifier: Apache-2.0
// The cost of calls of any batch size, and the bytes of their code: measured for compiled sizes,
// estimated from those for others. Pure functions.
#pragma once

#include <vector>

#include "tfaot/tune/plan.h"
#include "tfaot/tune/suggest.h"

namespace tfaot::toolkit {

// Every size measured at the level, ascending.
std::vector<SizeCost> compiled_sizes(const Manifest& manifest, const LevelCosts& costs);

// Between two compiled sizes: on the line through them. Above the largest: at its cost per row.
// Below the smallest: as if a call of n rows cost n + 1. Bytes: the mean, because code hardly grows
// with the size. Padding costs the share that it costs in the next larger size. REQUIRES: compiled
// is not empty.
SizeCost size_cost(const std::vector<SizeCost>& compiled, std::size_t size);

// The median of timings and its uncertainty. Pure function.

struct Median {
  double value = 0;
  // 95 % confidence interval, by order statistics: assumes nothing about the distribution of
  // timings.
  double low = 0;
  double high = 0;
};

// REQUIRES: values is not empty.
Median median_of(std::vector<double> values);

}  // namespace tfaot::toolkit
