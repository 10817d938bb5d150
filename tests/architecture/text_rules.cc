// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/text_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "tfaot/base/text.h"

namespace tfaot::toolkit::architecture {
namespace {

std::size_t longest(std::string_view path) {
  if (path == "CMakeLists.txt") return 120;
  if (path.ends_with(".cc")) return 400;
  if (path.ends_with(".h")) return 150;
  if (is_cmake(path)) return 250;
  return 0;  // no limit
}

// Doc comments do not count: nobody shall leave one out for a limit.
std::size_t length_of(const std::string& text) {
  const std::vector<std::string> lines = split_lines(text);
  return lines.size() - std::count_if(lines.begin(), lines.end(), [](const std::string& line) {
           return std::string_view(line)
               .substr(std::min(line.size(), line.find_first_not_of(' ')))
               .starts_with("///");
         });
}

}  // namespace

Violations check_licences(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree) {
    auto lines = split_lines(file.text);
    lines.resize(std::min<std::size_t>(lines.size(), 2));
    if (std::none_of(lines.begin(), lines.end(), [](const std::string& line) {
          return line.ends_with("SPDX-License-Identifier: Apache-2.0");
        })) {
      violations.push_back(file.path + ":1: no line \"SPDX-License-Identifier: Apache-2.0\"");
    }
  }
  return violations;
}

Violations check_lengths(const SourceTree& tree) {
  Violations violations;
  for (const SourceFile& file : tree) {
    const std::size_t limit = longest(file.path);
    const std::size_t length = length_of(file.text);
    if (limit == 0 || length <= limit) continue;
    violations.push_back(
        fmt::format("{}: {} lines, at most {} are allowed: split it", file.path, length, limit));
  }
  return violations;
}

}  // namespace tfaot::toolkit::architecture
