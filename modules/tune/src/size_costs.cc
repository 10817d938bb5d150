// SPDX-License-Identifier: Apache-2.0
#include "size_costs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "tfaot/records/file_names.h"

namespace tfaot::toolkit {
namespace {

// Of lib/NAME_bsN.o and lib/NAME_bsN_LEVEL.o.
std::uint64_t code_bytes(const Manifest& manifest, std::size_t size) {
  const std::string stem = "lib/" + program_name(manifest.name, static_cast<std::int64_t>(size));
  std::uint64_t bytes = 0;
  for (const ManifestFile& file : manifest.files) {
    if (file.path.starts_with(stem + ".") || file.path.starts_with(stem + "_")) bytes += file.size;
  }
  return bytes;
}

double estimated_ns(const std::vector<SizeCost>& compiled, std::size_t size) {
  const auto n = static_cast<double>(size);
  const auto above = std::ranges::lower_bound(compiled, size, {}, &SizeCost::size);
  if (above == compiled.end()) {
    return compiled.back().ns * n / static_cast<double>(compiled.back().size);
  }
  const auto high = static_cast<double>(above->size);
  if (above == compiled.begin()) return above->ns * (n + 1) / (high + 1);
  const SizeCost& below = *std::prev(above);
  const auto low = static_cast<double>(below.size);
  return below.ns + (above->ns - below.ns) * (n - low) / (high - low);
}

}  // namespace

std::vector<SizeCost> compiled_sizes(const Manifest& manifest, const LevelCosts& costs) {
  std::vector<SizeCost> compiled;
  for (std::size_t i = 0; i < costs.sizes.size(); ++i) {
    compiled.push_back({costs.sizes[i], costs.ns[i], code_bytes(manifest, costs.sizes[i]), true,
                        costs.live.empty() ? 0 : costs.live[i]});
  }
  return compiled;
}

SizeCost size_cost(const std::vector<SizeCost>& compiled, std::size_t size) {
  std::uint64_t bytes = 0;
  for (const SizeCost& known : compiled) {
    if (known.size == size) return known;
    bytes += known.bytes;
  }
  const auto above = std::ranges::lower_bound(compiled, size, {}, &SizeCost::size);
  const SizeCost& like = above == compiled.end() ? compiled.back() : *above;
  return {size, estimated_ns(compiled, size), bytes / compiled.size(), false, like.live_permille};
}

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
