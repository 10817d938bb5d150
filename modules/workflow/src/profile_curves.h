// SPDX-License-Identifier: Apache-2.0
// What a curve of a package runs: how each number of rows is composed. Pure functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/load/predictor.h"
#include "tfaot/records/profile.h"

namespace tfaot::toolkit {

struct CurveRequest {
  std::string cpu_level;  // empty: the best one
  ComposeStrategy strategy = ComposeStrategy::kNormal;
  std::vector<std::string> batch_rules;  // of the user, for kRules
  std::vector<std::int64_t> rows;
};

struct PlannedCurve {
  ProfiledCurve curve;                          // without times and source
  std::vector<std::string> rules;               // for the runner
  std::vector<std::string> run_as;              // of each number of rows
  std::vector<std::vector<std::size_t>> calls;  // the same as sizes; empty for a user's rule
};

// Error: the package has no such level, this CPU cannot run it, or a rule is wrong.
Result<PlannedCurve> plan_curve(const std::shared_ptr<const LoadedModel>& model,
                                const CurveRequest& request);

}  // namespace tfaot::toolkit
