// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "tfaot/base/text.h"
#include "tfaot/release/spec.h"

namespace tfaot::toolkit {
namespace {

constexpr std::string_view kRequires = "Requires: ";

bool is_model(const std::string& line) { return line.starts_with(kRequires); }

using Lines = std::vector<std::string>;

// Sorts each group of models.
std::string text_of(Lines lines) {
  for (auto start = lines.begin(); start != lines.end();) {
    start = std::find_if(start, lines.end(), is_model);
    const auto end = std::find_if_not(start, lines.end(), is_model);
    std::sort(start, end);
    start = end;
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace

std::string with_model(const std::string& list, const std::string& tool_name) {
  Lines lines = split_lines(list);
  if (lines.empty())
    lines.emplace_back("# Models compiled ahead of time; 'tfaot spec' keeps this list.");
  const std::string line = std::string(kRequires) + tool_name;
  if (std::ranges::find(lines, line) == lines.end()) {
    const auto last = std::find_if(lines.rbegin(), lines.rend(), is_model);
    lines.insert(last == lines.rend() ? lines.end() : last.base(), line);
  }
  return text_of(std::move(lines));
}

std::string without_model(const std::string& list, const std::string& tool_name) {
  Lines lines = split_lines(list);
  std::erase(lines, std::string(kRequires) + tool_name);
  return text_of(std::move(lines));
}

}  // namespace tfaot::toolkit
