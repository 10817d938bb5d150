// SPDX-License-Identifier: Apache-2.0
#include "median.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tfaot::toolkit {

// The number of values below the true median is binomial: half of them, with a standard deviation
// of sqrt(n) / 2.
Median median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t last = values.size() - 1;
  const double reach = 1.96 * std::sqrt(static_cast<double>(values.size())) / 2;
  const double middle = static_cast<double>(last) / 2;
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(middle - reach)));
  const auto high = std::min(last, static_cast<std::size_t>(std::ceil(middle + reach)));
  return {(values[last / 2] + values[last - last / 2]) / 2, values[low], values[high]};
}

}  // namespace tfaot::toolkit
