// SPDX-License-Identifier: Apache-2.0
#include "plot_axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tfaot::toolkit::report {
namespace {

constexpr double kFewestDecades = 2.5;  // of a logarithmic axis with powers of ten alone
constexpr double kLeastFactor = 2.5;    // between the ends of a logarithmic axis
constexpr double kVeryShort = 0.9;      // decades of one where every tick is named
constexpr double kRoundSteps = 6;       // of a linear axis, about
constexpr double kTickDistance = 30;    // pixels between the texts of two ticks

// 1, 2 or 5 times a power of ten, at least `least`.
double round_step(double least) {
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

std::string tick_text(double value) { return fmt::format("{:.6g}", value); }

}  // namespace

AxisMap::AxisMap(Scale scale, const std::vector<double>& values, PixelRange pixels)
    : scale_(scale), pixels_(pixels) {
  bool first = true;
  for (const double value : values) {
    if (!shows(value) || !std::isfinite(value)) continue;
    low_ = first ? value : std::min(low_, value);
    high_ = first ? value : std::max(high_, value);
    first = false;
  }
  if (scale_ == Scale::kLog) {
    if (first) low_ = high_ = 1;
    // A little room; at least a factor that holds a tick and does not make noise look like a trend.
    const double room =
        std::max(std::pow(high_ / low_, 0.04), std::sqrt(kLeastFactor * low_ / high_));
    low_ /= room;
    high_ *= room;
    return;
  }
  low_ = std::min(low_, 0.0);
  high_ = high_ > low_ ? high_ + 0.05 * (high_ - low_) : low_ + 1;
}

double AxisMap::place(double value) const {
  const bool log = scale_ == Scale::kLog;
  const double share =
      log ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return pixels_.from + share * (pixels_.to - pixels_.from);
}

std::vector<AxisTick> AxisMap::ticks() const {
  std::vector<AxisTick> ticks;
  if (scale_ == Scale::kLinear) {
    const double step = round_step((high_ - low_) / kRoundSteps);
    for (double i = std::ceil(low_ / step); i * step <= high_; ++i) {
      ticks.push_back({i * step, tick_text(i * step)});
    }
    return ticks;
  }
  const double decades = std::log10(high_ / low_);
  const int last = static_cast<int>(std::floor(std::log10(high_)));
  for (int power = static_cast<int>(std::floor(std::log10(low_))); power <= last; ++power) {
    for (int factor = 1; factor < 10; ++factor) {
      const double value = factor * std::pow(10, power);
      if (value < low_ || value > high_) continue;
      const bool in_short = factor == 1 || factor == 2 || factor == 5;
      const bool named =
          factor == 1 || decades < kVeryShort || (decades < kFewestDecades && in_short);
      ticks.push_back({value, named ? tick_text(value) : ""});
    }
  }
  return ticks;
}

std::vector<AxisTick> AxisMap::ticks_at(const std::vector<double>& values) const {
  std::vector<AxisTick> ticks;
  double before = pixels_.from - 2 * kTickDistance;
  for (const double value : values) {
    if (!shows(value)) continue;
    const bool named = std::abs(place(value) - before) >= kTickDistance;
    ticks.push_back({value, named ? tick_text(value) : ""});
    if (named) before = place(value);
  }
  return ticks;
}

}  // namespace tfaot::toolkit::report
