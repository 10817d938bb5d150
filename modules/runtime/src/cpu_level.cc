// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/cpu_level.h"

#include <cstdlib>

#include "tfaot/runtime/detail/cpu_features.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

CpuChoice CpuChoice::of_features(std::vector<std::string> features) {
  return {std::move(features), ""};
}

CpuChoice CpuChoice::at_level(std::string level) const { return {features_, std::move(level)}; }

const CpuChoice& this_cpu() {
  static const CpuChoice kChoice = [] {
    const char* forced = std::getenv("TFAOT_CPU_LEVEL");
    return CpuChoice::of_features(detect_cpu_features()).at_level(forced == nullptr ? "" : forced);
  }();
  return kChoice;
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
