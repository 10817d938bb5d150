// SPDX-License-Identifier: Apache-2.0
#include "tfaot/profile/measure.h"

#include <algorithm>
#include <cmath>

#include "tfaot/profile/quantiles.h"

namespace tfaot::toolkit {
namespace {

constexpr std::int64_t kMostCalls = std::int64_t{1} << 40;

double nanoseconds(std::chrono::microseconds time) {
  return static_cast<double>(time.count()) * 1000;
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

}  // namespace tfaot::toolkit
