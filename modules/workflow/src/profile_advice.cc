// SPDX-License-Identifier: Apache-2.0
#include "profile_advice.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tfaot/profile/strategies.h"
#include "tfaot/tune/plan.h"

namespace tfaot::toolkit {
namespace {

constexpr double kClearlyFaster = 1.1;
constexpr std::int64_t kFewRounds = 7;  // for times that only lead to a plan

// The same package and level, with a rule for some numbers of rows.
Result<std::unique_ptr<RunnerProcess>> start_with_rules(const Context& context,
                                                        const Measured& normal,
                                                        const std::vector<std::string>& rules) {
  RunnerSpec spec = normal.spec;
  for (const std::string& rule : rules) spec.settings.push_back("batch_rule=" + rule);
  return RunnerProcess::start(context.files, spec);
}

// The time of one call of this compiled size; 0: no curve of the level ran it.
double known_time(const std::vector<Measured>& measured, const ProfiledCurve& normal,
                  std::size_t size) {
  for (const Measured& one : measured) {
    if (one.curve.engine != ProfiledEngine::kPackage || one.curve.cpu_level != normal.cpu_level) {
      continue;
    }
    for (std::size_t i = 0; i < one.curve.sizes.size(); ++i) {
      const bool is_it = one.curve.sizes[i].rows == static_cast<std::int64_t>(size) &&
                         one.calls[i] == std::vector<std::size_t>{size};
      if (is_it) return one.curve.sizes[i].call.median;
    }
  }
  return 0;
}

Result<LevelCosts> costs_of(const Context& context, const std::vector<Measured>& measured,
                            const Measured& normal, const std::vector<std::int64_t>& batch_sizes,
                            MeasureOptions options) {
  LevelCosts costs{normal.curve.cpu_level, {}, {}};
  std::vector<std::string> rules;
  for (const std::int64_t batch_size : batch_sizes) {
    const auto size = static_cast<std::size_t>(batch_size);
    costs.sizes.push_back(size);
    costs.ns.push_back(known_time(measured, normal.curve, size));
    if (costs.ns.back() == 0) rules.push_back(rule_text(size, {size}));
  }
  if (rules.empty()) return costs;
  options.rounds = std::min(options.rounds, kFewRounds);
  TFAOT_ASSIGN(const auto runner, start_with_rules(context, normal, rules));
  for (std::size_t i = 0; i < costs.sizes.size(); ++i) {
    if (costs.ns[i] > 0) continue;
    TFAOT_ASSIGN(const auto sizes, measure_size({runner.get()}, batch_sizes[i], options));
    costs.ns[i] = sizes.front().call.median;
  }
  return costs;
}

struct Candidate {
  std::size_t index = 0;  // of the curve's sizes
  PlannedRows plan;
  double gain = kClearlyFaster;
};

std::optional<Candidate> best_candidate(const Measured& normal, const LevelCosts& costs) {
  std::optional<Candidate> best;
  for (std::size_t i = 0; i < normal.curve.sizes.size(); ++i) {
    const ProfiledSize& size = normal.curve.sizes[i];
    PlannedRows plan = plan_rows(costs, static_cast<std::size_t>(size.rows));
    const double gain = plan.ns > 0 ? size.call.median / plan.ns : 0;
    if (plan.chunks == normal.calls[i] || gain <= (best ? best->gain : kClearlyFaster)) continue;
    best = Candidate{i, std::move(plan), gain};
  }
  return best;
}

Status find_better_plan(const Context& context, const std::vector<Measured>& measured,
                        const std::vector<std::int64_t>& batch_sizes, const MeasureOptions& options,
                        Measured& normal) {
  TFAOT_ASSIGN(const LevelCosts costs, costs_of(context, measured, normal, batch_sizes, options));
  const std::optional<Candidate> candidate = best_candidate(normal, costs);
  if (!candidate) return {};
  const std::int64_t rows = normal.curve.sizes[candidate->index].rows;
  const std::string rule = rule_text(static_cast<std::size_t>(rows), candidate->plan.chunks);
  TFAOT_ASSIGN(const auto other, start_with_rules(context, normal, {rule}));
  TFAOT_ASSIGN(const auto both, measure_size({normal.runner.get(), other.get()}, rows, options));
  const Band& now = both[0].call;
  const Band& better = both[1].call;
  if (now.median <= kClearlyFaster * better.median || now.low <= better.high) return {};
  normal.curve.better_plans.push_back(
      {rows, normal.run_as[candidate->index], now, run_as_text(candidate->plan), better});
  return {};
}

}  // namespace

Status find_better_plans(const Context& context, const std::vector<std::int64_t>& batch_sizes,
                         const MeasureOptions& options, std::vector<Measured>& measured) {
  if (batch_sizes.size() < 2) return {};
  for (Measured& one : measured) {
    const bool is_normal = one.curve.engine == ProfiledEngine::kPackage &&
                           one.curve.strategy == ComposeStrategy::kNormal;
    if (is_normal) {
      TFAOT_TRY(find_better_plan(context, measured, batch_sizes, options, one));
    }
  }
  return {};
}

}  // namespace tfaot::toolkit
