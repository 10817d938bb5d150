// SPDX-License-Identifier: Apache-2.0
// The measurement itself. All runners of a model live at the same time, all on one core, and only
// one works at any time: in every round each is asked for some calls, in an order that turns by one
// from round to round. What disturbs the machine so hits all alike, and what one leaves in the
// caches is not always met by the same other.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/profile/runner.h"
#include "tfaot/records/counted_code.h"
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

// Quantiles of timings. Pure functions.

// On the line between the two neighbours, as numpy.quantile() does. REQUIRES: values is not empty,
// 0 <= share <= 1.
double quantile(std::vector<double> values, double share);

// All zero if there are no values.
Band band_of(const std::vector<double>& values);

// How each strategy composes a number of rows of the compiled sizes. Pure functions.

// The sizes of the calls. REQUIRES: `sizes` ascend and are positive, rows > 0; the strategy is
// kStitching or kPadding.
std::vector<std::size_t> composed(ComposeStrategy strategy, const std::vector<std::size_t>& sizes,
                                  std::size_t rows);

// "5:4,1", as --batch-rule takes it.
std::string rule_text(std::size_t rows, const std::vector<std::size_t>& calls);

// The shares of the operations in a call, from counters of clock ticks.

// Runs the code's batch size for some rounds, in many short groups of calls, and takes medians over
// these. Largest shares first; operations that took no time
// are left out. What the entry itself took, beside its operations, is the last one, "between
// operations". REQUIRES: the runner counts for this code.
Result<ProfiledOperations> measure_operations(Runner& runner, const CountedCode& code,
                                              const MeasureOptions& options);

}  // namespace tfaot::toolkit
