// SPDX-License-Identifier: Apache-2.0
#include "tfaot/report/quantities.h"

#include <fmt/format.h>

#include <array>

namespace tfaot::toolkit::report {

std::string bytes_text(std::uint64_t bytes) {
  constexpr double kStep = 1000;
  constexpr std::array<const char*, 4> kUnits = {"kB", "MB", "GB", "TB"};
  if (bytes < 1000) return fmt::format("{} {}", bytes, bytes == 1 ? "byte" : "bytes");
  double size = static_cast<double>(bytes) / kStep;
  std::size_t unit = 0;
  while (size >= kStep - 0.5 && unit + 1 < kUnits.size()) size /= kStep, ++unit;
  return fmt::format("{:.{}f} {}", size, size < 99.95 ? 1 : 0, kUnits[unit]);
}

std::string grouped_digits(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t sign = number < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > sign + 3;) {
    at -= 3;
    text.insert(at, " ");
  }
  return text;
}

}  // namespace tfaot::toolkit::report
