// SPDX-License-Identifier: Apache-2.0
#include "tests/architecture/text_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include "tfaot/base/text.h"

namespace tfaot::toolkit::architecture {
namespace {

// The most lines that each room of modules/ may have, with some to spare for what is added next.
// Lower a number as its room shrinks; raise one only with a reason in the commit. A file is as long
// as the one thing that it holds.
struct Ceiling {
  std::string_view room;
  std::size_t lines;
};
constexpr Ceiling kCeilings[] = {
    {"modules/arrays", 1640},    {"modules/base", 4010},     {"modules/cli", 8900},
    {"modules/cmssw", 490},      {"modules/compile", 1840},  {"modules/config", 2750},
    {"modules/convert", 1000},   {"modules/elf", 1250},      {"modules/engine", 38250},
    {"modules/generate", 1460},  {"modules/inspect", 1820},  {"modules/install", 1860},
    {"modules/kernels", 10650},  {"modules/load", 1000},     {"modules/package", 1690},
    {"modules/profile", 850},    {"modules/python", 720},    {"modules/records", 6200},
    {"modules/release", 810},    {"modules/remote", 320},    {"modules/report", 1190},
    {"modules/runner", 1530},    {"modules/runtime", 6150},  {"modules/scram", 2960},
    {"modules/sign", 400},       {"modules/tfcompile", 250}, {"modules/tune", 670},
    {"modules/workflow", 10650},
};
constexpr std::size_t kSlack = 500;  // lines that a room may be below its ceiling

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
  std::map<std::string, std::size_t> rooms;
  for (const SourceFile& file : tree) {
    const bool counts = is_cpp(file.path) || is_cmake(file.path);
    if (!counts || !file.path.starts_with("modules/")) continue;
    const std::size_t end = file.path.find('/', std::string_view("modules/").size());
    if (end != std::string::npos) rooms[file.path.substr(0, end)] += length_of(file.text);
  }
  Violations violations;
  for (const auto& [room, lines] : rooms) {
    const auto* const ceiling = std::ranges::find(kCeilings, room, &Ceiling::room);
    if (ceiling == std::end(kCeilings)) {
      violations.push_back(room + ": has no ceiling in tests/architecture/text_rules.cc");
    } else if (lines > ceiling->lines) {
      violations.push_back(fmt::format(
          "{}: {} lines, its ceiling is {}: make it shorter, or raise the ceiling and say in the "
          "commit why",
          room, lines, ceiling->lines));
    } else if (lines + kSlack < ceiling->lines) {
      violations.push_back(fmt::format("{}: {} lines, its ceiling is {}: lower the ceiling", room,
                                       lines, ceiling->lines));
    }
  }
  return violations;
}

}  // namespace tfaot::toolkit::architecture
