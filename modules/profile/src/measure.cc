// SPDX-License-Identifier: Apache-2.0
#include "tfaot/profile/measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace tfaot::toolkit {
namespace {

constexpr std::int64_t kMostCalls = std::int64_t{1} << 40;

double nanoseconds(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) * 1000;
}

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

Result<std::int64_t> calls_for_round(Runner& runner, std::chrono::microseconds round) {
  const double wanted = nanoseconds(round);
  for (std::int64_t calls = 1;; calls *= 4) {
    TFAOT_ASSIGN(const Timing timing, runner.time(calls));
    if (timing.wall < wanted / 8 && calls < kMostCalls) continue;
    const double fitting = static_cast<double>(calls) * wanted / std::max(timing.wall, 1.0);
    return std::max<std::int64_t>(1, std::llround(fitting));
  }
}

Result<std::vector<ProfiledSize>> measure_size(const std::vector<Runner*>& runners,
                                               std::int64_t rows, const MeasureOptions& options) {
  std::vector<ProfiledSize> sizes(runners.size());
  std::vector<std::vector<double>> busy(runners.size());
  for (std::size_t i = 0; i < runners.size(); ++i) {
    TFAOT_ASSIGN(const Disagreement difference, runners[i]->prepare(rows));
    sizes[i].rows = rows;
    sizes[i].difference = difference.worst;
    sizes[i].largest = difference.largest;
    TFAOT_ASSIGN(sizes[i].calls, calls_for_round(*runners[i], options.round));
  }
  for (std::int64_t round = 0; round < options.rounds; ++round) {
    for (std::size_t i = 0; i < runners.size(); ++i) {
      const std::size_t turn = (i + static_cast<std::size_t>(round)) % runners.size();
      TFAOT_ASSIGN(const Timing timing, runners[turn]->time(sizes[turn].calls));
      const double time = options.clock == ProfileClock::kWall ? timing.wall : timing.busy;
      sizes[turn].rounds.push_back(time / static_cast<double>(sizes[turn].calls));
      busy[turn].push_back(timing.wall > 0 ? timing.busy / timing.wall : 1);
    }
  }
  for (std::size_t i = 0; i < runners.size(); ++i) {
    sizes[i].call = band_of(sizes[i].rounds);
    sizes[i].busy = band_of(busy[i]).median;
    TFAOT_ASSIGN(const MemoryUse memory, runners[i]->memory());
    sizes[i].resident = memory.resident;
    sizes[i].proportional = memory.proportional;
  }
  return sizes;
}

Result<double> measure_noise(Runner& runner, const MeasureOptions& options) {
  TFAOT_ASSIGN(const auto sizes, measure_size({&runner}, 1, options));
  const Band& call = sizes.front().call;
  return call.median > 0 ? (call.high - call.low) / call.median : 0;
}

double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const double place = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(place));
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double rest = place - static_cast<double>(below);
  return values[below] + rest * (values[above] - values[below]);
}

Band band_of(const std::vector<double>& values) {
  if (values.empty()) return {};
  return {quantile(values, 0.5), quantile(values, 0.16), quantile(values, 0.84)};
}

std::vector<std::size_t> composed(ComposeStrategy strategy, const std::vector<std::size_t>& sizes,
                                  std::size_t rows) {
  std::vector<std::size_t> calls;
  while (rows > 0) {
    // The smallest size that holds the rest, and the largest that the rest fills.
    const auto above = std::lower_bound(sizes.begin(), sizes.end(), rows);
    const auto filled = std::upper_bound(sizes.begin(), sizes.end(), rows);
    std::size_t next = 0;
    if (strategy == ComposeStrategy::kPadding) {
      next = above == sizes.end() ? sizes.back() : *above;
    } else {
      next = filled == sizes.begin() ? sizes.front() : *std::prev(filled);
    }
    calls.push_back(next);
    rows -= std::min(rows, next);
  }
  return calls;
}

std::string rule_text(std::size_t rows, const std::vector<std::size_t>& calls) {
  return fmt::format("{}:{}", rows, fmt::join(calls, ","));
}

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
