// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/bits.h"

#include "tfaot/base/text.h"

namespace tfaot::toolkit {

std::vector<std::vector<std::string>> levels_of_same_bits(
    const std::string& target_triple, ComputeType compute,
    const std::vector<LevelFeatures>& levels) {
  std::vector<std::vector<std::string>> groups;
  std::vector<std::string> fused;
  for (const LevelFeatures& one : levels) {
    const bool fuses =
        !target_triple.starts_with("x86_64") || contains(one.features, std::string("fma"));
    if (fuses && compute == ComputeType::kFloat32) {
      fused.push_back(one.cpu_level);
    } else {
      groups.push_back({one.cpu_level});
    }
  }
  if (!fused.empty()) groups.push_back(std::move(fused));
  return groups;
}

}  // namespace tfaot::toolkit
