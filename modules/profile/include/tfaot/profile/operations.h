// SPDX-License-Identifier: Apache-2.0
// The shares of the operations in a call, from counters of clock ticks.
#pragma once

#include "tfaot/base/result.h"
#include "tfaot/profile/measure.h"
#include "tfaot/records/counted_code.h"
#include "tfaot/records/profile.h"

namespace tfaot::toolkit {

// Runs the code's batch size for some rounds, in many short groups of calls, and takes medians over
// these. Largest shares first; operations that took no time
// are left out. What the entry itself took, beside its operations, is the last one, "between
// operations". REQUIRES: the runner counts for this code.
Result<ProfiledOperations> measure_operations(Runner& runner, const CountedCode& code,
                                              const MeasureOptions& options);

}  // namespace tfaot::toolkit
