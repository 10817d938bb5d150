// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/target_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// The x86-64 psABI: the features that each level adds to those before it, in LLVM's spelling.
struct LevelFeatures {
  const char* level;
  std::vector<std::string> features;
};
const std::array<LevelFeatures, 4>& levels() {
  static const std::array<LevelFeatures, 4> table = {{
      {"x86-64", {"cmov", "cx8", "fxsr", "mmx", "sse", "sse2", "x87"}},
      {"x86-64-v2", {"crc32", "cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"}},
      {"x86-64-v3", {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"}},
      {"x86-64-v4", {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}},
  }};
  return table;
}

Result<std::size_t> level_with(const std::string& feature) {
  const bool wanted = feature.rfind('+', 0) == 0;
  for (std::size_t i = 0; wanted && i < levels().size(); ++i) {
    const std::vector<std::string>& names = levels()[i].features;
    if (std::find(names.begin(), names.end(), feature.substr(1)) != names.end()) return i;
  }
  Error error = Error::usage(fmt::format("--target_features: '{}' is unknown", feature));
  for (const LevelFeatures& level : levels()) {
    error.note(fmt::format("{}: +{}", level.level, join(level.features, ",+")));
  }
  return fail(std::move(error));
}

}  // namespace

Result<std::string> level_with_features(const std::string& features) {
  std::size_t lowest = 0;
  for (const std::string& feature : split_lines(replace_all(features, ",", "\n"))) {
    if (feature.empty()) continue;
    TFAOT_ASSIGN(const std::size_t level, level_with(trim(feature)));
    lowest = std::max(lowest, level);
  }
  return levels()[lowest].level;
}

}  // namespace tfaot::toolkit
