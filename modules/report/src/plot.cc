// SPDX-License-Identifier: Apache-2.0
#include "tfaot/report/plot.h"

#include <fmt/format.h>

#include <array>
#include <set>

#include "plot_axis.h"
#include "tfaot/report/page.h"

namespace tfaot::toolkit::report {
namespace {

constexpr double kWidth = 720;
constexpr double kHeight = 430;
constexpr double kLeft = 68;
constexpr double kRight = 16;
constexpr double kBottom = 50;
constexpr double kLegendLine = 20;
constexpr double kLetter = 7;  // pixels of one, about

// Those of the page, for a file of its own.
constexpr std::array<const char*, kMostSeries> kColours = {"#2f6db5", "#d9822b", "#2f9170",
                                                           "#8a5cb8", "#c04a63", "#7a8594"};

std::string colour_of(std::size_t curve) {
  const std::size_t series = curve % kMostSeries;
  return fmt::format("var(--series-{},{})", series + 1, kColours[series]);
}

std::string dashes_of(std::size_t curve) {
  if (curve < kMostSeries) return "";
  return curve < 2 * kMostSeries ? ";stroke-dasharray:6 4" : ";stroke-dasharray:2 3";
}

std::string text_at(double x, double y, const char* style, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" style=\"{}\">{}</text>\n", x, y, style,
                     escaped(text));
}

constexpr const char* kTickStyleX = "fill:var(--muted,#555);font-size:12px;text-anchor:middle";
constexpr const char* kTickStyleY = "fill:var(--muted,#555);font-size:12px;text-anchor:end";
constexpr const char* kTitleStyle = "fill:var(--ink,#111);font-size:13px;text-anchor:end";
constexpr const char* kNameStyle = "fill:var(--ink,#111);font-size:13px";

std::string line_at(double x1, double y1, double x2, double y2, const std::string& style) {
  return fmt::format(
      "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" style=\"{}\"/>\n", x1, y1, x2,
      y2, style);
}

struct LegendPlace {
  double x = 0;
  double line = 0;
};

// Names beside each other, in as many lines as they need.
std::vector<LegendPlace> legend_of(const std::vector<PlotCurve>& curves) {
  std::vector<LegendPlace> places;
  LegendPlace next{kLeft, 0};
  for (const PlotCurve& curve : curves) {
    const double width = 54 + kLetter * static_cast<double>(curve.name.size());
    if (next.x > kLeft && next.x + width > kWidth - kRight) next = {kLeft, next.line + 1};
    places.push_back(next);
    next.x += width;
  }
  return places;
}

class Drawing {
 public:
  explicit Drawing(const Plot& plot)
      : plot_(plot),
        legend_(legend_of(plot.curves)),
        top_(16 + kLegendLine * (legend_.empty() ? 0 : legend_.back().line + 1)),
        x_(plot.x.scale, values(true), {kLeft, kWidth - kRight}),
        y_(plot.y.scale, values(false), {kHeight - kBottom, top_}) {}

  std::string svg() {
    text_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" height=\"{1:.0f}\" style=\"font-family:sans-serif;max-width:100%;"
        "height:auto\">\n",
        kWidth, kHeight);
    add_axes();
    for (std::size_t i = 0; i < plot_.curves.size(); ++i) add_curve(i);
    add_legend();
    return text_ + "</svg>\n";
  }

 private:
  std::vector<double> values(bool of_x) const {
    std::vector<double> all;
    for (const PlotCurve& curve : plot_.curves) {
      for (const PlotPoint& point : curve.points) {
        if (of_x) {
          all.push_back(point.x);
        } else {
          all.insert(all.end(), {point.y, point.low, point.high});
        }
      }
    }
    return all;
  }

  // On a logarithmic axis where the points are: numbers of rows, for example.
  std::vector<AxisTick> ticks_of_x() const {
    if (plot_.x.scale == Scale::kLinear) return x_.ticks();
    const std::vector<double> xs = values(true);
    const std::set<double> distinct(xs.begin(), xs.end());
    return x_.ticks_at({distinct.begin(), distinct.end()});
  }

  void add_axes() {
    const double bottom = kHeight - kBottom;
    const double right = kWidth - kRight;
    const std::string grid = "stroke:var(--line,#ddd);stroke-width:1";
    const std::string ink = "stroke:var(--muted,#555);stroke-width:1";
    for (const AxisTick& tick : ticks_of_x()) {
      const double x = x_.place(tick.value);
      text_ += line_at(x, bottom, x, bottom + (tick.text.empty() ? 3 : 6), ink);
      if (!tick.text.empty()) text_ += text_at(x, bottom + 20, kTickStyleX, tick.text);
    }
    for (const AxisTick& tick : y_.ticks()) {
      const double y = y_.place(tick.value);
      if (tick.text.empty()) {
        text_ += line_at(kLeft - 3, y, kLeft, y, ink);
        continue;
      }
      text_ += line_at(kLeft, y, right, y, grid);
      text_ += text_at(kLeft - 8, y + 4, kTickStyleY, tick.text);
    }
    text_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
        "style=\"fill:none;{}\"/>\n",
        kLeft, top_, right - kLeft, bottom - top_, ink);
    text_ += text_at(right, kHeight - 10, kTitleStyle, plot_.x.title);
    text_ += fmt::format(
        "<text transform=\"translate(14 {:.1f}) rotate(-90)\" style=\"{}\">{}"
        "</text>\n",
        top_, kTitleStyle, escaped(plot_.y.title));
  }

  // Low values from left to right, then high ones back.
  void add_band(const std::vector<PlotPoint>& points, const std::string& colour) {
    std::string corners;
    for (const PlotPoint& point : points) corners += place_of(point.x, point.low) + " ";
    for (auto point = points.rbegin(); point != points.rend(); ++point) {
      corners += place_of(point->x, point->high) + " ";
    }
    corners.pop_back();
    text_ +=
        fmt::format("<polygon points=\"{}\" style=\"fill:{};fill-opacity:.25;stroke:none\"/>\n",
                    corners, colour);
  }

  void add_bars(const std::vector<PlotPoint>& points, const std::string& colour) {
    const std::string style = fmt::format("stroke:{};stroke-width:1.5", colour);
    for (const PlotPoint& point : points) {
      const double x = x_.place(point.x);
      for (const double end : {point.low, point.high}) {
        text_ += line_at(x - 5, y_.place(end), x + 5, y_.place(end), style);
      }
      text_ += line_at(x, y_.place(point.low), x, y_.place(point.high), style);
    }
  }

  void add_curve(std::size_t number) {
    const PlotCurve& curve = plot_.curves[number];
    const std::string colour = colour_of(number);
    std::vector<PlotPoint> points;
    for (const PlotPoint& point : curve.points) {
      if (x_.shows(point.x) && y_.shows(point.low)) points.push_back(point);
    }
    if (points.empty()) return;
    if (plot_.uncertainty == Uncertainty::kBand) {
      add_band(points, colour);
      std::string line;
      for (const PlotPoint& point : points) line += place_of(point.x, point.y) + " ";
      line.pop_back();
      text_ += fmt::format(
          "<polyline points=\"{}\" style=\"fill:none;stroke:{};stroke-width:1.8{}\"/>\n", line,
          colour, dashes_of(number));
    } else {
      add_bars(points, colour);
    }
    for (const PlotPoint& point : points) {
      text_ += fmt::format(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" style=\"fill:{}\"><title>{}</title>"
          "</circle>\n",
          x_.place(point.x), y_.place(point.y), colour,
          escaped(fmt::format("{}, {:.6g}: {:.4g} ({:.4g} to {:.4g})", curve.name, point.x, point.y,
                              point.low, point.high)));
    }
  }

  void add_legend() {
    for (std::size_t i = 0; i < legend_.size(); ++i) {
      const double y = 16 + kLegendLine * legend_[i].line;
      text_ += line_at(legend_[i].x, y - 4, legend_[i].x + 22, y - 4,
                       fmt::format("stroke:{};stroke-width:3{}", colour_of(i), dashes_of(i)));
      text_ += text_at(legend_[i].x + 28, y, kNameStyle, plot_.curves[i].name);
    }
  }

  std::string place_of(double x, double y) const {
    return fmt::format("{:.1f},{:.1f}", x_.place(x), y_.place(y));
  }

  const Plot& plot_;
  std::vector<LegendPlace> legend_;
  double top_;
  AxisMap x_;
  AxisMap y_;
  std::string text_;
};

}  // namespace

std::string svg_of(const Plot& plot) { return Drawing(plot).svg(); }

}  // namespace tfaot::toolkit::report
