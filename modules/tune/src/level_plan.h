// SPDX-License-Identifier: Apache-2.0
// LevelCosts -> the runtime's BatchPlan. Pure function.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "tfaot/runtime/batch_plan.h"
#include "tfaot/tune/plan.h"

namespace tfaot::toolkit {

// Throws when there is no size.
BatchPlan plan_of(const LevelCosts& costs);

}  // namespace tfaot::toolkit
