// SPDX-License-Identifier: Apache-2.0
#include "profile_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tfaot/profile/strategies.h"
#include "tfaot/tune/plan.h"

namespace tfaot::toolkit {
namespace {

// Scratch memory of an instance at this level.
std::int64_t temporary_bytes(const CompiledModel& compiled, const std::string& level) {
  std::uint64_t most = 0;
  for (const CompiledCode& code : compiled.codes) {
    if (code.cpu_level != level) continue;
    std::uint64_t bytes = 0;
    for (const BufferSlot& slot : code.buffers) {
      if (slot.kind == BufferKind::kTemporary) bytes += slot.size;
    }
    most = std::max(most, bytes);
  }
  return static_cast<std::int64_t>(most);
}

PlannedRows planned_calls(const ::tfaot::BatchPlan& plan, std::size_t rows) {
  PlannedRows planned;
  for (std::size_t rest = rows; rest > 0;) {
    const std::size_t size = plan.sizes()[plan.next(rest)];
    planned.chunks.push_back(size);
    planned.padding = std::max(size, rest) - rest;
    rest -= std::min(size, rest);
  }
  return planned;
}

PlannedRows composed_calls(ComposeStrategy strategy, const std::vector<std::size_t>& sizes,
                           std::size_t rows) {
  PlannedRows planned;
  planned.chunks = composed(strategy, sizes, rows);
  for (const std::size_t chunk : planned.chunks) planned.padding += chunk;
  planned.padding -= rows;
  return planned;
}

// "5:2,4" is the rule of 5 rows; empty if they have none.
std::string rule_of(const std::vector<std::string>& rules, std::int64_t rows) {
  const std::string start = fmt::format("{}:", rows);
  for (const std::string& rule : rules) {
    if (rule.starts_with(start)) return rule;
  }
  return "";
}

}  // namespace

Result<PlannedCurve> plan_curve(const std::shared_ptr<const LoadedModel>& model,
                                const CurveRequest& request) {
  const ComposeStrategy strategy = request.strategy;
  PlannedCurve planned;
  if (strategy == ComposeStrategy::kRules) planned.rules = request.batch_rules;
  TFAOT_ASSIGN(const Predictor predictor,
               Predictor::create(model, {request.cpu_level, planned.rules}));
  const ::tfaot::BatchPlan& plan = predictor.plan();
  for (const std::int64_t count : request.rows) {
    const auto rows = static_cast<std::size_t>(count);
    if (strategy == ComposeStrategy::kStitching || strategy == ComposeStrategy::kPadding) {
      const PlannedRows calls = composed_calls(strategy, plan.sizes(), rows);
      planned.rules.push_back(rule_text(rows, calls.chunks));
      planned.run_as.push_back(run_as_text(calls));
      planned.calls.push_back(calls.chunks);
      continue;
    }
    const std::string rule = rule_of(planned.rules, count);
    const PlannedRows calls = rule.empty() ? planned_calls(plan, rows) : PlannedRows();
    planned.run_as.push_back(rule.empty() ? run_as_text(calls) : "rule " + rule);
    planned.calls.push_back(calls.chunks);
  }
  planned.curve.model = model->manifest().name;
  planned.curve.version = model->manifest().version;
  planned.curve.cpu_level = predictor.cpu_level();
  planned.curve.strategy = strategy;
  planned.curve.tuned = model->manifest().tuning.has_value();
  planned.curve.temporaries = temporary_bytes(model->compiled(), planned.curve.cpu_level);
  return planned;
}

}  // namespace tfaot::toolkit
