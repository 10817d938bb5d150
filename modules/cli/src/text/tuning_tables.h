// SPDX-License-Identifier: Apache-2.0
// What `tfaot tune` measured, and how batches are composed by it, as rows of tables. Pure
// functions.
#pragma once

#include <string>
#include <vector>

#include "tfaot/records/manifest.h"
#include "tfaot/tune/plan.h"

namespace tfaot::toolkit {

// "12.345"
std::string microseconds(double ns);

// By CPU level, then batch size.
std::vector<TunedCall> calls_by_level(const Tuning& tuning);

// A number of rows, and the calls that run it.
struct ShownPlan {
  std::size_t rows = 0;
  double ns = 0;
  std::string run_as;  // "4 x 64, 1, 2 (1 of padding)"
};
struct ShownPlans {
  std::string cpu_level;
  std::vector<ShownPlan> plans;
};
// For some numbers of rows at the highest measured level; empty if nothing was measured, or if
// nothing is composed because rows depend on each other.
ShownPlans shown_plans(const Manifest& manifest);

}  // namespace tfaot::toolkit
