// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/sample_sizes.h"

#include <algorithm>
#include <random>

namespace tfaot::toolkit::engine {

namespace {

// Small ranges have few primes.
constexpr std::int64_t kFewPrimes = 32;

bool is_good(std::int64_t number) {
  if (number <= kFewPrimes) return number > 2;

  for (std::int64_t i = 2; i * i <= number; ++i) {
    if (number % i == 0) return false;
  }
  return number > 1;
}

// A prime, or a small number, that is none of these: from `number` on by steps of `step`; 0: there
// is none.
std::int64_t next_prime(std::int64_t number, std::int64_t step, const Dimensions& taken) {
  for (; number > 1; number += step) {
    if (is_good(number) && place_among(taken, number) < 0) return number;
  }
  return 0;
}

}  // namespace

std::vector<Dimensions> sample_sizes(const std::vector<FreeDimension>& own, SampleSide range,
                                     std::size_t count) {
  constexpr std::int64_t kNotSmall = 47;
  const std::int64_t step = range == SampleSide::kAbove ? 1 : -1;
  Dimensions first;
  for (const FreeDimension& one : own) {
    const bool is_above = range == SampleSide::kAbove;
    first.push_back(
        next_prime(is_above ? std::max(one.largest, kNotSmall) : one.largest, step, first));
  }
  if (place_among(first, 0) >= 0) return {};
  std::vector<Dimensions> points = {first};
  std::mt19937 random(1);  // the same for each compilation
  constexpr int kMostTries = 1000;
  for (int i = 0; i < kMostTries && points.size() < count; ++i) {
    Dimensions point;
    for (const std::int64_t size : first) {
      const std::int64_t most = range == SampleSide::kAbove ? size
                                : size <= kFewPrimes        ? std::max<std::int64_t>(size - 3, 0)
                                                            : size / 2;
      const auto further =
          static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(most + 1));
      point.push_back(next_prime(size + step * further, step, point));
    }
    const bool is_new = std::ranges::find(points, point) == points.end();
    if (is_new && place_among(point, 0) < 0) points.push_back(std::move(point));
  }
  return points;
}

}  // namespace tfaot::toolkit::engine
