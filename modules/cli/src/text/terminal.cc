// SPDX-License-Identifier: Apache-2.0
#include "text/terminal.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <vector>

#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kFewestColumns = 20;
constexpr std::size_t kDescriptions = 20;  // they start in this column or after it
constexpr std::size_t kNarrowIndent = 6;   // their indent if that column is too far right

std::size_t indent_of(const std::string& line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// Where an option's description starts: after two spaces. Otherwise the line's own indentation.
std::size_t text_column(const std::string& line) {
  const std::size_t gap = line.find("  ", indent_of(line));
  const std::size_t text = line.find_first_not_of(' ', gap);
  return gap == std::string::npos || text == std::string::npos ? indent_of(line) : text;
}

bool is_command(const std::string& line) {
  const std::string text = trim(line);
  return indent_of(line) > 0 && (text.starts_with("tfaot ") || text.starts_with("rpmbuild "));
}

// Whether the sentence in `line` continues in `next`, which was wrapped for the usual width.
bool goes_on(const std::string& line, const std::string& next) {
  if (trim(line).empty() || trim(next).empty() || is_command(line)) return false;
  if (indent_of(next) >= kDescriptions) return indent_of(next) == text_column(line);
  return indent_of(line) == 0 && indent_of(next) == 0 && !next.starts_with("Usage:") &&
         !line.ends_with('.') && !line.ends_with(':');
}

void add_broken(std::string line, std::size_t columns, std::string& text) {
  const bool command = is_command(line);
  const bool description_alone = indent_of(line) >= kDescriptions;
  std::size_t hanging = command ? indent_of(line) + 4 : text_column(line);
  if (hanging > columns * 2 / 3) {
    if (description_alone) line = std::string(kNarrowIndent, ' ') + trim(line);
    hanging = kNarrowIndent;
  }
  const std::size_t room = command ? columns - 2 : columns;
  while (line.size() > room) {
    std::size_t end = line.rfind(' ', room);
    if (end == std::string::npos || end <= std::max(indent_of(line), hanging)) break;
    const std::string rest = trim(line.substr(end));
    line.resize(line.find_last_not_of(' ', end) + 1);
    text += line + (command ? " \\\n" : "\n");
    line = std::string(hanging, ' ') + rest;
  }
  text += line + "\n";
}

}  // namespace

std::optional<std::size_t> terminal_columns(int descriptor, const std::string& columns_variable) {
  const bool number = !columns_variable.empty() && columns_variable.size() < 5 &&
                      columns_variable.find_first_not_of("0123456789") == std::string::npos;
  std::size_t columns = number ? std::stoul(columns_variable) : 0;
  winsize size{};
  if (columns == 0 && ::ioctl(descriptor, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  if (columns == 0) return std::nullopt;
  return std::max(columns, kFewestColumns);
}

std::string fitted_help(const std::string& text, std::size_t columns) {
  if (columns >= kUsualColumns) return text;
  std::vector<std::string> lines;
  for (const std::string& line : split_lines(text)) {
    if (!lines.empty() && goes_on(lines.back(), line)) {
      lines.back() += " " + trim(line);
    } else {
      lines.push_back(line);
    }
  }
  std::string fitted;
  for (const std::string& line : lines) add_broken(line, columns, fitted);
  return fitted;
}

}  // namespace tfaot::toolkit
