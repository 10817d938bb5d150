// SPDX-License-Identifier: Apache-2.0
#include "tfaot/profile/quantiles.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tfaot::toolkit {

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

}  // namespace tfaot::toolkit
