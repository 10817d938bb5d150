// SPDX-License-Identifier: Apache-2.0
#include "tfaot/config/cpu_levels.h"

#include <algorithm>

namespace tfaot {

const std::vector<CpuLevel>& cpu_level_table() {
  static const std::vector<CpuLevel> table = {
      {.architecture = "x86_64", .name = "x86-64", .kernels = "x86_64", .by_default = true},
      {.architecture = "x86_64", .name = "x86-64-v2", .kernels = "x86_64"},
      {.architecture = "x86_64", .name = "x86-64-v3", .kernels = "x86_64_v3", .by_default = true},
      {.architecture = "x86_64", .name = "x86-64-v4", .kernels = "x86_64_v4", .by_default = true},
      {.architecture = "x86_64", .name = "native"},
      {.architecture = "aarch64", .name = "generic", .kernels = "generic", .by_default = true},
  };
  return table;
}

const CpuLevel& cpu_level(std::string_view name) {
  const auto& table = cpu_level_table();
  return *std::find_if(table.begin(), table.end(),
                       [&](const CpuLevel& level) { return level.name == name; });
}

std::string target_machine(std::string_view target_triple) {
  return std::string(target_triple.substr(0, target_triple.find('-')));
}

std::vector<std::string> allowed_cpu_levels(std::string_view architecture) {
  std::vector<std::string> names;
  for (const CpuLevel& level : cpu_level_table()) {
    if (level.architecture == architecture) names.push_back(level.name);
  }
  return names;
}

std::vector<std::string> default_cpu_levels(std::string_view architecture) {
  std::vector<std::string> names;
  for (const CpuLevel& level : cpu_level_table()) {
    if (level.by_default && level.architecture == architecture) names.push_back(level.name);
  }
  return names;
}

}  // namespace tfaot
