// SPDX-License-Identifier: Apache-2.0
// The runtime's BatchPlan for measured costs, with the cost of each call. Immutable.
#pragma once

#include <cstdint>
#include <vector>

#include "tfaot/runtime/batch_plan.h"
#include "tfaot/tune/plan.h"

namespace tfaot::toolkit {

class LevelPlan {
 public:
  // Throws when there is no size.
  explicit LevelPlan(const LevelCosts& costs);

  struct Call {
    std::size_t size = 0;
    double ns = 0;
  };
  // What the runtime runs first of `rest` rows. REQUIRES: there are some.
  Call next(std::size_t rest) const;

 private:
  std::vector<std::uint64_t> picoseconds_;
  std::vector<std::uint32_t> live_;
  BatchPlan plan_;
};

}  // namespace tfaot::toolkit
