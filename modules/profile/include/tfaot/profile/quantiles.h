// SPDX-License-Identifier: Apache-2.0
// Quantiles of timings. Pure functions.
#pragma once

#include <vector>

#include "tfaot/records/profile.h"

namespace tfaot::toolkit {

// On the line between the two neighbours, as numpy.quantile() does. REQUIRES: values is not empty,
// 0 <= share <= 1.
double quantile(std::vector<double> values, double share);

// All zero if there are no values.
Band band_of(const std::vector<double>& values);

}  // namespace tfaot::toolkit
