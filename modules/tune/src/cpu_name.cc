// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/text.h"
#include "tfaot/tune/tune.h"

namespace tfaot::toolkit {

std::string cpu_name(const FileSystem& fs) {
  const auto text = fs.read("/proc/cpuinfo");
  if (!text) return "unknown";
  for (const char* key : {"model name", "Model", "CPU part"}) {
    for (const std::string& line : split_lines(*text)) {
      const std::size_t colon = line.find(':');
      if (colon == std::string::npos || trim(line.substr(0, colon)) != key) continue;
      return trim(line.substr(colon + 1));
    }
  }
  return "unknown";
}

}  // namespace tfaot::toolkit
