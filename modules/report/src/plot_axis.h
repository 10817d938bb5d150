// SPDX-License-Identifier: Apache-2.0
// One axis of a plot: where values are drawn, and which get a tick. Pure.
#pragma once

#include <string>
#include <vector>

#include "tfaot/report/plot.h"

namespace tfaot::toolkit::report {

// Pixels of an axis; `to` is less than `from` if it points up.
struct PixelRange {
  double from = 0;
  double to = 0;
};

struct AxisTick {
  double value = 0;
  std::string text;  // empty: a small tick
};

class AxisMap {
 public:
  // `values`: all that must be seen; of a logarithmic axis the positive ones count.
  AxisMap(Scale scale, const std::vector<double>& values, PixelRange pixels);

  bool shows(double value) const { return scale_ == Scale::kLinear || value > 0; }
  double place(double value) const;
  // A linear axis: round steps. A logarithmic one: powers of ten, and 2 and 5 times these if it is
  // short.
  std::vector<AxisTick> ticks() const;
  // One for each of these values that is not too near to the one before; values ascend.
  std::vector<AxisTick> ticks_at(const std::vector<double>& values) const;

 private:
  Scale scale_;
  double low_ = 0;
  double high_ = 1;
  PixelRange pixels_;
};

}  // namespace tfaot::toolkit::report
