// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/sample_sizes.h"

#include <algorithm>
#include <random>
#include <utility>

namespace tfaot::toolkit::engine {

namespace {

// Small ranges have few primes.
constexpr std::int64_t kFewPrimes = 32;

bool is_good(std::int64_t number, int bits) {
  if (number <= kFewPrimes) return number > 2;
  for (int i = 0; i < bits && number % 2 == 0; ++i) number /= 2;
  for (std::int64_t i = 2; i * i <= number; ++i) {
    if (number % i == 0) return false;
  }
  return number > 1;
}

// The lowest bits of a size.
struct LowestBits {
  std::int64_t value = 0;
  int count = 0;
};

// A good number that is none of these and has these bits: from `number` on by steps of `step`; 0:
// there is none.
std::int64_t next_good(std::int64_t number, std::int64_t step, const Dimensions& taken,
                       LowestBits bits) {
  for (; number > 1; number += step) {
    const bool has_bits = number % (std::int64_t{1} << bits.count) == bits.value;
    if (has_bits && is_good(number, bits.count) && place_among(taken, number) < 0) return number;
  }
  return 0;
}

// All sizes of a range, the largest first; nothing if they are more than `count`.
std::vector<Dimensions> sizes_within(const std::vector<FreeDimension>& own, std::size_t count) {
  std::vector<Dimensions> points = {{}};
  for (const FreeDimension& one : own) {
    std::vector<Dimensions> longer;
    for (std::int64_t size = one.largest; size >= one.smallest; --size) {
      for (const Dimensions& point : points) longer.push_back(joined({point, {&size, 1}}));
      if (longer.size() > count) return {};
    }
    points = std::move(longer);
  }
  return points;
}

}  // namespace

std::vector<Dimensions> sample_sizes(const std::vector<FreeDimension>& own, SampleSide range,
                                     std::size_t count, int bits) {
  constexpr std::int64_t kNotSmall = 47;
  if (range == SampleSide::kWithin) return sizes_within(own, count);
  const std::int64_t step = range == SampleSide::kAbove ? 1 : -1;
  Dimensions first;
  for (const FreeDimension& one : own) {
    const bool is_above = range == SampleSide::kAbove;
    first.push_back(one.smallest == one.largest
                        ? one.largest
                        : next_good(is_above ? std::max(one.largest, kNotSmall) : one.largest, step,
                                    first, {}));
  }
  for (std::size_t d = 0; d < own.size(); ++d) {
    if (first[d] == 0 && own[d].largest > 0) return {};
  }
  std::vector<Dimensions> points = {first};
  const Dimensions largest = default_sizes(own);
  if (range == SampleSide::kBelow && first != largest) points.insert(points.begin(), largest);
  std::mt19937 random(1);  // the same for each compilation
  constexpr int kMostTries = 1000;
  for (int i = 0; i < kMostTries && points.size() < count; ++i) {
    Dimensions point;
    std::int64_t turn = i;
    bool is_good = true;
    for (std::size_t d = 0; d < own.size(); ++d) {
      const std::int64_t size = first[d];
      if (own[d].smallest == own[d].largest) {
        point.push_back(size);
        continue;
      }
      const std::int64_t most = range == SampleSide::kAbove ? size
                                : size <= kFewPrimes        ? std::max<std::int64_t>(size - 3, 0)
                                                            : size / 2;
      const auto further =
          static_cast<std::int64_t>(random() % static_cast<std::uint32_t>(most + 1));
      const LowestBits lowest{turn % (std::int64_t{1} << bits), bits};
      turn >>= bits;
      point.push_back(next_good(size + step * further, step, point, lowest));
      is_good = is_good && point.back() != 0;
    }
    const bool is_new = std::ranges::find(points, point) == points.end();
    if (is_new && is_good) points.push_back(std::move(point));
  }
  return points;
}

}  // namespace tfaot::toolkit::engine
