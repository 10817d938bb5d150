// SPDX-License-Identifier: Apache-2.0
// What calls of any batch size cost, and how many bytes their code has: known for compiled sizes,
// estimated from them for others. Pure functions.
#pragma once

#include <vector>

#include "tfaot/tune/plan.h"
#include "tfaot/tune/suggest.h"

namespace tfaot::toolkit {

// Every size that was measured at the level, ascending.
std::vector<SizeCost> compiled_sizes(const Manifest& manifest, const LevelCosts& costs);

// Between two compiled sizes on the line through them; above the largest at its cost per row; below
// the smallest as if a call of n rows cost n + 1. Bytes: the mean, as code hardly grows with the
// size. REQUIRES: compiled is not empty.
SizeCost size_cost(const std::vector<SizeCost>& compiled, std::size_t size);

}  // namespace tfaot::toolkit
