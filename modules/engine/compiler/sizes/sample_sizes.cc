// SPDX-License-Identifier: Apache-2.0
#include "compiler/sizes/sample_sizes.h"

#include <algorithm>
#include <random>

namespace tfaot::toolkit::engine {

std::vector<FreeDimension> own_dimensions(const std::vector<FreeDimension>& all) {
  std::vector<FreeDimension> own;
  std::ranges::copy_if(all, std::back_inserter(own),
                       [](const FreeDimension& one) { return one.same_as.empty(); });
  return own;
}

std::vector<DimensionSize> sizes_by_name(const std::vector<FreeDimension>& all,
                                         const Dimensions& own_sizes) {
  const auto own = own_dimensions(all);
  std::vector<DimensionSize> sizes;
  for (const FreeDimension& one : all) {
    const std::string& name = one.same_as.empty() ? one.name : one.same_as;
    const auto place = std::ranges::find(own, name, &FreeDimension::name) - own.begin();
    sizes.push_back({one.name, entry(own_sizes, place)});
  }
  return sizes;
}

Dimensions largest_sizes(const std::vector<FreeDimension>& own) {
  Dimensions sizes;
  for (const FreeDimension& one : own) sizes.push_back(one.largest);
  return sizes;
}

std::vector<Dimensions> sample_sizes(const std::vector<FreeDimension>& own, const Dimensions& first,
                                     std::size_t count) {
  std::vector<Dimensions> points = {first};
  std::mt19937 random(1);  // the same for each compilation
  constexpr int kMostTries = 10000;
  for (int i = 0; i < kMostTries && points.size() < count; ++i) {
    Dimensions point;
    for (std::size_t d = 0; d < own.size(); ++d) {
      const std::int64_t low = std::max(own[d].smallest, (first[d] + 1) / 2);
      const auto sizes = static_cast<std::uint32_t>(first[d] - low + 1);
      point.push_back(low + static_cast<std::int64_t>(random() % sizes));
    }
    if (std::ranges::find(points, point) == points.end()) points.push_back(std::move(point));
  }
  return points;
}

}  // namespace tfaot::toolkit::engine
