// SPDX-License-Identifier: Apache-2.0
#include "tfaot/config/cpu_levels.h"

namespace tfaot {

const std::vector<CpuLevel>& cpu_level_table() {
  static const std::vector<CpuLevel> table = {
      {.architecture = "x86_64", .name = "x86-64", .by_default = true},
      {.architecture = "x86_64", .name = "x86-64-v2"},
      {.architecture = "x86_64", .name = "x86-64-v3", .by_default = true},
      {.architecture = "x86_64", .name = "x86-64-v4", .by_default = true},
      {.architecture = "x86_64", .name = "native"},
      {.architecture = "aarch64", .name = "generic", .by_default = true},
  };
  return table;
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
