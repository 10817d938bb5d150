// SPDX-License-Identifier: Apache-2.0
#include "tfaot/profile/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tfaot/profile/quantiles.h"

namespace tfaot::toolkit {
namespace {

constexpr std::int64_t kGroupsInRound = 10;

// XLA's "%fusion.1 = f32[4,8]{1,0} fusion(...)" as "fusion.1 f32[4,8]": the name and the first
// result.
std::string shown_operation(const std::string& text) {
  const std::size_t name = text.starts_with('%') ? 1 : 0;
  const std::size_t equals = text.find(" = ");
  if (equals == std::string::npos) return text.substr(name);
  const std::size_t result = text.find_first_not_of('(', equals + 3);
  const std::size_t end = text.find(']', equals);
  std::string shown = text.substr(name, equals - name);
  if (end != std::string::npos) shown += " " + text.substr(result, end + 1 - result);
  return shown;
}

// Of a group of calls.
struct MedianTicks {
  std::vector<double> operations;
  double between = 0;
  double whole = 1;  // their sum
};

// A disturbance is in one group and in one operation there, so that few medians notice it.
Result<MedianTicks> median_ticks(Runner& runner, const CountedCode& code, std::int64_t round_calls,
                                 std::int64_t rounds) {
  const std::int64_t parts = std::min(kGroupsInRound, round_calls);
  std::vector<std::vector<double>> of_operation(code.operations.size());
  std::vector<double> of_rest;
  for (std::int64_t group = 0; group < rounds * parts; ++group) {
    TFAOT_ASSIGN(const std::vector<double> ticks, runner.operations(round_calls / parts));
    if (static_cast<std::int64_t>(ticks.size()) != code.counters) {
      return fail(Error::internal(
          fmt::format("the runner has {} counters instead of {}", ticks.size(), code.counters)));
    }
    double rest = ticks[static_cast<std::size_t>(code.whole)];
    for (std::size_t i = 0; i < code.operations.size(); ++i) {
      const CountedOperation& operation = code.operations[i];
      of_operation[i].push_back(ticks[static_cast<std::size_t>(operation.counter)]);
      // Those inside a loop's body count for the loop.
      if (operation.inside.empty()) rest -= of_operation[i].back();
    }
    of_rest.push_back(std::max(rest, 0.0));
  }
  MedianTicks median;
  median.between = quantile(of_rest, 0.5);
  double sum = median.between;
  for (std::size_t i = 0; i < code.operations.size(); ++i) {
    median.operations.push_back(quantile(of_operation[i], 0.5));
    if (code.operations[i].inside.empty()) sum += median.operations.back();
  }
  median.whole = std::max(sum, 1.0);
  return median;
}

}  // namespace

Result<ProfiledOperations> measure_operations(Runner& runner, const CountedCode& code,
                                              const MeasureOptions& options) {
  TFAOT_ASSIGN(const auto sizes, measure_size({&runner}, code.batch_size, options));
  const ProfiledSize& size = sizes.front();
  TFAOT_ASSIGN(const MedianTicks ticks, median_ticks(runner, code, size.calls, options.rounds));
  ProfiledOperations found;
  found.rows = code.batch_size;
  found.cpu_level = code.cpu_level;
  found.instrumented = size.call.median;
  for (std::size_t i = 0; i < code.operations.size(); ++i) {
    const CountedOperation& operation = code.operations[i];
    const double share = ticks.operations[i] / ticks.whole;
    if (share <= 0) continue;
    found.operations.push_back({shown_operation(operation.name), operation.category,
                                operation.inside, share, operation.origin});
  }
  std::ranges::stable_sort(found.operations, std::ranges::greater(), &ProfiledOperation::share);
  found.operations.push_back({"between operations", "", "", ticks.between / ticks.whole, ""});
  return found;
}

}  // namespace tfaot::toolkit
