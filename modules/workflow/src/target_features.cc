// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/target_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "tfaot/base/text.h"
#include "tfaot/records/cpu_levels.h"

namespace tfaot::toolkit {
namespace {

struct LevelFeatures {
  std::string level;
  std::vector<std::string> added;  // to those of the levels before it
};

// Features that code of a level has but cpu_level_table() leaves out: all x86-64 CPUs have them, or
// compilers use them only on request.
std::vector<std::string> unlisted_features(const std::string& level) {
  if (level == "x86-64") return {"cmov", "cx8", "fxsr", "mmx", "sse", "sse2", "x87"};
  if (level == "x86-64-v2") return {"crc32"};
  if (level == "x86-64-v3") return {"xsave"};
  return {};
}

std::vector<LevelFeatures> x86_64_levels() {
  std::vector<LevelFeatures> levels;
  std::vector<std::string> before;
  for (const CpuLevel& level : cpu_level_table()) {
    const bool is_native = level.kernels.empty();
    if (level.architecture != "x86_64" || level.is_cpu || is_native) continue;
    std::vector<std::string> added = unlisted_features(level.name);
    std::ranges::set_difference(level.features, before, std::back_inserter(added));
    std::ranges::sort(added);
    levels.push_back({level.name, std::move(added)});
    before = level.features;
  }
  return levels;
}

Result<std::string> level_with(const std::string& feature) {
  const std::vector<LevelFeatures> levels = x86_64_levels();
  for (const LevelFeatures& level : levels) {
    if (std::ranges::count(level.added, feature.substr(1)) != 0 && feature.starts_with('+')) {
      return level.level;
    }
  }
  Error error = Error::usage(fmt::format("--target_features: '{}' is unknown", feature));
  for (const LevelFeatures& level : levels) {
    error.note(fmt::format("{}: +{}", level.level, join(level.added, ",+")));
  }
  return fail(std::move(error));
}

}  // namespace

Result<std::string> level_with_features(const std::string& features) {
  std::string lowest = "x86-64";
  for (const std::string& word : split_lines(replace_all(features, ",", "\n"))) {
    const std::string feature = trim(word);
    if (feature.empty()) continue;
    TFAOT_ASSIGN(const std::string level, level_with(feature));
    if (ascend(lowest, level)) lowest = level;
  }
  return lowest;
}

}  // namespace tfaot::toolkit
