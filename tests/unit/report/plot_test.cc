// SPDX-License-Identifier: Apache-2.0
#include "tfaot/report/plot.h"

#include <gmock/gmock.h>

#include "plot_axis.h"
#include "tests/support/golden.h"

namespace tfaot::toolkit::report {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using toolkit::testing::matches_golden;

Plot sample_plot() {
  Plot plot;
  plot.x.title = "rows of a call";
  plot.y.title = "µs a call";
  plot.curves = {{"tfaot", {{1, 2, 1.9, 2.2}, {16, 10, 9, 12}, {256, 100, 99, 140}}},
                 {"<LiteRT & co>", {{1, 5, 4, 6}, {16, 20, 19, 30}, {256, 300, 290, 310}}}};
  return plot;
}

std::string tick_texts(const std::vector<AxisTick>& ticks) {
  std::string text;
  for (const AxisTick& tick : ticks) text += tick.text.empty() ? "." : "[" + tick.text + "]";
  return text;
}

TEST(ReportPlot, DrawsBandsOnLogarithmicAxes) {
  EXPECT_TRUE(matches_golden(svg_of(sample_plot()), "report/plot_bands.svg"));
}

TEST(ReportPlot, DrawsBarsOnLinearAxes) {
  Plot plot = sample_plot();
  plot.uncertainty = Uncertainty::kBars;
  plot.x.scale = plot.y.scale = Scale::kLinear;
  EXPECT_TRUE(matches_golden(svg_of(plot), "report/plot_bars.svg"));
}

TEST(ReportPlot, TakesAnyNumberOfCurves) {
  Plot plot;
  EXPECT_THAT(svg_of(plot), HasSubstr("</svg>"));
  for (int i = 0; i < 14; ++i) {
    plot.curves.push_back({"a long name of a curve", {{1, 1.0 + i, 1.0 + i, 1.0 + i}}});
  }
  const std::string svg = svg_of(plot);
  EXPECT_THAT(svg, HasSubstr("stroke-dasharray:6 4"));
  EXPECT_THAT(svg, HasSubstr("stroke-dasharray:2 3"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST(ReportPlot, LeavesOutWhatALogarithmCannotShow) {
  Plot plot;
  plot.curves = {{"a", {{0, 1, 1, 1}, {1, 0, 0, 0}, {2, 5, 5, 5}}}};
  const std::string svg = svg_of(plot);
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_THAT(svg, HasSubstr("a, 2: 5 (5 to 5)"));
  EXPECT_THAT(svg, Not(HasSubstr("a, 1: 0")));
}

TEST(ReportPlotAxis, NamesPowersOfTen) {
  const AxisMap wide(Scale::kLog, {1, 10000}, {0, 100});
  EXPECT_THAT(tick_texts(wide.ticks()), HasSubstr("[1]........[10]........[100]"));
  const AxisMap narrow(Scale::kLog, {3, 40}, {0, 100});
  EXPECT_EQ(tick_texts(narrow.ticks()),
            ".."
            "[5]....[10][20]..");
}

TEST(ReportPlotAxis, HasRoundStepsIfLinear) {
  const AxisMap map(Scale::kLinear, {0, 47}, {100, 0});
  EXPECT_EQ(tick_texts(map.ticks()), "[0][10][20][30][40]");
  EXPECT_DOUBLE_EQ(map.place(0), 100);
}

TEST(ReportPlotAxis, NamesValuesThatHaveRoom) {
  const AxisMap map(Scale::kLog, {1, 1000}, {0, 100});
  EXPECT_EQ(tick_texts(map.ticks_at({1, 2, 30, 1000})), "[1].[30][1000]");
}

}  // namespace
}  // namespace tfaot::toolkit::report
