// SPDX-License-Identifier: Apache-2.0
#include "header_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {

Result<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= 0) return number;
  return fail(Error(fmt::format("'{}' is not a number", text)));
}

HeaderLines::HeaderLines(const std::string& text, std::string where) : where_(std::move(where)) {
  for (const std::string& line : split_lines(text)) lines_.push_back(trim(line));
}

bool HeaderLines::has(std::string_view word) const {
  return std::any_of(lines_.begin(), lines_.end(),
                     [&](const std::string& line) { return line.find(word) != std::string::npos; });
}

Result<std::int64_t> HeaderLines::constant(std::string_view name) const {
  const std::string start = fmt::format("static constexpr size_t {} = ", name);
  for (const std::string& line : lines_) {
    if (!line.starts_with(start) || !line.ends_with(";")) continue;
    const auto number = number_of(line.substr(start.size(), line.size() - start.size() - 1));
    if (number) return *number;
  }
  return fail(unfit(fmt::format("{} is missing", name)));
}

Result<std::vector<std::string>> HeaderLines::block(std::string_view start) const {
  const auto holds = [&](const std::string& line) { return line.find(start) != std::string::npos; };
  const auto first = std::find_if(lines_.begin(), lines_.end(), holds);
  const auto last = std::find(first, lines_.end(), "};");
  if (last != lines_.end()) return std::vector<std::string>(first + 1, last);
  return fail(unfit(fmt::format("'{}' is missing", start)));
}

Result<std::vector<std::int64_t>> HeaderLines::numbers(std::string_view start) const {
  TFAOT_ASSIGN(const std::vector<std::string> lines, block(start));
  std::vector<std::int64_t> numbers;
  for (const std::string& word : split_lines(replace_all(join(lines, "\n"), ",", "\n"))) {
    if (trim(word).empty()) continue;
    const auto number = number_of(trim(word));
    if (!number) return fail(unfit(fmt::format("'{}': {}", start, number.error().message())));
    numbers.push_back(*number);
  }
  return numbers;
}

std::vector<std::string> HeaderLines::quoted_behind(std::string_view start) const {
  const auto holds = [&](const std::string& line) { return line.find(start) != std::string::npos; };
  const auto found = std::find_if(lines_.begin(), lines_.end(), holds);
  std::vector<std::string> words;
  if (found == lines_.end() || found + 1 == lines_.end()) return words;
  const std::string& line = found[1];
  for (auto open = line.find('"'); open != std::string::npos;) {
    const auto close = line.find('"', open + 1);
    if (close == std::string::npos) break;
    words.push_back(line.substr(open + 1, close - open - 1));
    open = line.find('"', close + 1);
  }
  return words;
}

Error HeaderLines::unfit(const std::string& what) const {
  return Error::at({where_}, "not a tfcompile header of a kind that tfaot knows: " + what)
      .note("compile the model again: tfaot compile");
}

}  // namespace tfaot::toolkit
