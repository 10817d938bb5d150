// SPDX-License-Identifier: Apache-2.0
#include "pages/memory_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tfaot/report/page.h"
#include "tfaot/report/quantities.h"

namespace tfaot::toolkit {
namespace {

constexpr double kMapWidth = 1000;
constexpr double kMapHeight = 420;
constexpr double kMapLeft = 86;  // of the axis' labels
constexpr double kMapTop = 12;
constexpr double kMapBottom = 40;
constexpr double kLetterWidth = 7;  // of a label
constexpr double kLabelHeight = 15;
constexpr int kTicks = 4;
constexpr std::size_t kSeries = report::kMostSeries;

// The pixels of moments and bytes.
struct MapScale {
  double moments;
  double bytes;
  double x(std::int64_t moment) const {
    return kMapLeft + static_cast<double>(moment) / moments * kMapWidth;
  }
  double y(std::uint64_t offset) const {
    return kMapTop + static_cast<double>(offset) / bytes * kMapHeight;
  }
};

std::string map_axes(const MapScale& scale, const BufferMap& map) {
  std::string svg;
  for (int i = 0; i <= kTicks; ++i) {
    const double share = static_cast<double>(i) / kTicks;
    const auto bytes = static_cast<std::uint64_t>(std::llround(share * scale.bytes));
    const double y = scale.y(bytes);
    svg += fmt::format(
        "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" stroke=\"var(--line)\"/>"
        "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        kMapLeft, y, kMapLeft + kMapWidth, kMapLeft - 6, y + 4, report::bytes_text(bytes));
  }
  svg += fmt::format(
      "<text x=\"{:.1f}\" y=\"{:.1f}\">first instruction</text>"
      "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">last of {}</text>\n",
      kMapLeft, kMapTop + kMapHeight + 20, kMapLeft + kMapWidth, kMapTop + kMapHeight + 20,
      map.moments.size());
  return svg;
}

std::string map_box(const PlacedValue& value, std::uint64_t base, const MapScale& scale,
                    std::size_t colour) {
  const double x = scale.x(value.first);
  const double y = scale.y(base + value.offset);
  const double width = std::max(scale.x(value.last + 1) - x, 2.0);
  const double height = std::max(scale.y(base + value.offset + value.size) - y, 1.5);
  std::string svg = fmt::format(
      "<g><title>{}: {}, {}, alive from {} to {}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" "
      "width=\"{:.1f}\" height=\"{:.1f}\" fill=\"var(--series-{})\" fill-opacity=\"0.35\" "
      "stroke=\"var(--series-{})\"/>",
      report::escaped(value.name), report::escaped(value.shape), report::bytes_text(value.size),
      value.first, value.last, x, y, width, height, colour, colour);
  if (height >= kLabelHeight && width >= kLetterWidth * static_cast<double>(value.name.size())) {
    svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x + 4, y + height / 2 + 4,
                       report::escaped(value.name));
  }
  return svg + "</g>\n";
}

}  // namespace

std::string memory_drawing(const BufferMap& map) {
  const std::uint64_t bytes = bytes_of(map, BufferUse::kTemporary);
  const Peak peak = peak_of(map, BufferUse::kTemporary);
  if (bytes == 0 || peak.moment < 0 || map.moments.empty()) return "";
  const MapScale scale{static_cast<double>(map.moments.size()) + 1, static_cast<double>(bytes)};
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" width=\"{}\" "
      "font-family=\"sans-serif\" font-size=\"12\" fill=\"var(--ink)\">\n",
      kMapLeft + kMapWidth + 10, kMapTop + kMapHeight + kMapBottom, kMapLeft + kMapWidth + 10);
  svg += map_axes(scale, map);
  std::uint64_t base = 0;
  std::size_t colour = 0;
  for (const Allocation& allocation : map.allocations) {
    if (allocation.use != BufferUse::kTemporary) continue;
    for (const PlacedValue& value : allocation.values) {
      if (value.first >= 0) svg += map_box(value, base, scale, colour++ % kSeries + 1);
    }
    base += allocation.size;
  }
  svg += fmt::format(
      "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"var(--bad)\" "
      "stroke-dasharray=\"4 4\"><title>most bytes are alive: {3}</title></line>\n",
      scale.x(peak.moment), kMapTop, kMapTop + kMapHeight, report::bytes_text(peak.bytes));
  return svg + "</svg>\n";
}

}  // namespace tfaot::toolkit
