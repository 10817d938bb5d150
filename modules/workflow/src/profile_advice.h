// SPDX-License-Identifier: Apache-2.0
// Whether a package that chooses its calls by estimates, or by times of another machine, would be
// clearly faster if it chose by what was measured here.
#pragma once

#include <cstdint>
#include <vector>

#include "profile_runners.h"
#include "tfaot/base/result.h"
#include "tfaot/profile/measure.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

// Adds to the normal curves among those of one model. What was not measured yet is measured: calls
// of compiled sizes, and the better plan beside the present one. REQUIRES: all are measured, and
// their runners live.
Status find_better_plans(const Context& context, const std::vector<std::int64_t>& batch_sizes,
                         const MeasureOptions& options, std::vector<Measured>& measured);

}  // namespace tfaot::toolkit
