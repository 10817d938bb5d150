// SPDX-License-Identifier: Apache-2.0
// Curves with their uncertainties as an SVG drawing: for a page's Figure, or a file of its own.
// Colours follow the page's light or dark setting. Equal values give equal bytes. Pure functions.
#pragma once

#include <string>
#include <vector>

namespace tfaot::toolkit::report {

struct PlotPoint {
  double x = 0;
  double y = 0;
  double low = 0;  // low <= y <= high
  double high = 0;
};
struct PlotCurve {
  std::string name = {};
  std::vector<PlotPoint> points = {};  // by ascending x
};

enum class Uncertainty { kBand, kBars };
enum class Scale { kLinear, kLog };
struct PlotAxis {
  std::string title = {};
  Scale scale = Scale::kLog;  // values that are not positive are left out of a logarithmic axis
};

struct Plot {
  PlotAxis x = {};
  PlotAxis y = {};
  std::vector<PlotCurve> curves = {};  // any number; after six, colours come again, dashed
  Uncertainty uncertainty = Uncertainty::kBand;
};

// One element <svg>.
std::string svg_of(const Plot& plot);

}  // namespace tfaot::toolkit::report
