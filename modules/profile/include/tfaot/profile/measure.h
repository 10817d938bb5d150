// SPDX-License-Identifier: Apache-2.0
// The measurement itself. All runners of a model live at the same time, all on one core, and only
// one works at any time: in every round each is asked for some calls, in an order that turns by one
// from round to round. What disturbs the machine so hits all alike, and what one leaves in the
// caches is not always met by the same other.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/profile/runner.h"
#include "tfaot/records/profile.h"

namespace tfaot::toolkit {

struct MeasureOptions {
  std::int64_t rounds = 31;
  std::chrono::microseconds round{10000};  // of one runner, about
  ProfileClock clock = ProfileClock::kWall;
};

// How many calls take about as long as a round. The first call at a new size is not counted.
Result<std::int64_t> calls_for_round(Runner& runner, std::chrono::microseconds round);

// One for each runner, in their order. Without `run_as` and allocations.
Result<std::vector<ProfiledSize>> measure_size(const std::vector<Runner*>& runners,
                                               std::int64_t rows, const MeasureOptions& options);

// How much the time of the same work differs: 16 % to 84 % over the median. `runner`: without an
// engine.
Result<double> measure_noise(Runner& runner, const MeasureOptions& options);

}  // namespace tfaot::toolkit
