// SPDX-License-Identifier: Apache-2.0
#include "tfaot/profile/operations.h"

#include <fmt/format.h>

#include <algorithm>

namespace tfaot::toolkit {
namespace {

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

}  // namespace

Result<ProfiledOperations> measure_operations(Runner& runner, const CountedCode& code,
                                              const MeasureOptions& options) {
  TFAOT_ASSIGN(const auto sizes, measure_size({&runner}, code.batch_size, options));
  const ProfiledSize& size = sizes.front();
  TFAOT_ASSIGN(const std::vector<double> ticks, runner.operations(size.calls * options.rounds));
  if (static_cast<std::int64_t>(ticks.size()) != code.counters) {
    return fail(Error::internal(
        fmt::format("the runner has {} counters instead of {}", ticks.size(), code.counters)));
  }
  ProfiledOperations found;
  found.rows = code.batch_size;
  found.cpu_level = code.cpu_level;
  found.instrumented = size.call.median;
  const double whole = std::max(ticks[static_cast<std::size_t>(code.whole)], 1.0);
  double rest = 1;
  for (const CountedOperation& operation : code.operations) {
    const double share = ticks[static_cast<std::size_t>(operation.counter)] / whole;
    if (share <= 0) continue;
    // Those inside a loop's body count for the loop.
    if (operation.inside.empty()) rest -= share;
    found.operations.push_back(
        {shown_operation(operation.name), operation.category, operation.inside, share});
  }
  std::ranges::stable_sort(found.operations, std::ranges::greater(), &ProfiledOperation::share);
  found.operations.push_back({"between operations", "", "", std::max(rest, 0.0)});
  return found;
}

}  // namespace tfaot::toolkit
