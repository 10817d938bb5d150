// SPDX-License-Identifier: Apache-2.0
// The median of timings and its uncertainty. Pure function.
#pragma once

#include <vector>

namespace tfaot::toolkit {

struct Median {
  double value = 0;
  // 95 % confidence interval, by order statistics: assumes nothing about the distribution of
  // timings.
  double low = 0;
  double high = 0;
};

// REQUIRES: values is not empty.
Median median_of(std::vector<double> values);

}  // namespace tfaot::toolkit
