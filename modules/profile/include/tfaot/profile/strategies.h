// SPDX-License-Identifier: Apache-2.0
// How each strategy composes a number of rows of the compiled sizes. Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tfaot/records/profile.h"

namespace tfaot::toolkit {

// The sizes of the calls. REQUIRES: `sizes` ascend and are positive, rows > 0; the strategy is
// kStitching or kPadding.
std::vector<std::size_t> composed(ComposeStrategy strategy, const std::vector<std::size_t>& sizes,
                                  std::size_t rows);

// "5:4,1", as --batch-rule takes it.
std::string rule_text(std::size_t rows, const std::vector<std::size_t>& calls);

}  // namespace tfaot::toolkit
