// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/report/page.h"

namespace tfaot::toolkit::report {
namespace {

constexpr std::size_t kLongestLine = 2000;  // bytes of a value

// Characters of a printable text.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

// A cut text ends, or if it is code begins, with "..." between two words.
std::string cut_text(const std::string& text, std::size_t most, ColumnKind kind) {
  constexpr const char* kBetween = " ,/;";
  if (text.size() <= most) return shown(text, most);
  if (kind == ColumnKind::kCode) {
    const std::size_t start = text.find_first_of(kBetween, text.size() - most);
    return "... " +
           shown(text.substr(start == std::string::npos ? text.size() - most : start + 1), most);
  }
  const std::size_t end = text.find_last_of(kBetween, most);
  return shown(text.substr(0, end == std::string::npos ? most : end), most) + " ...";
}

using Rows = std::vector<std::vector<std::string>>;

// Columns side by side, two spaces apart; no spaces at the end of a line. `kinds`: numbers are
// aligned to the right, and so are their titles.
std::string aligned(const Rows& rows, const std::vector<ColumnKind>& kinds,
                    const std::string& indent) {
  std::vector<std::size_t> widths(kinds.size());
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(row[i]));
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    std::string line = indent;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - width_of(row[i]), ' ');
      line += kinds[i] == ColumnKind::kNumber ? padding + row[i] : row[i] + padding;
      line += "  ";
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string lines_of(const Text& block, const std::string& indent) {
  return indent + shown(block.text, kLongestLine) + "\n";
}

std::string lines_of(const Callout& block, const std::string& indent) {
  const char* const word = block.verdict == Verdict::kBad       ? "problem: "
                           : block.verdict == Verdict::kWarning ? "warning: "
                           : block.verdict == Verdict::kNote    ? "note: "
                                                                : "";
  std::string text = indent + word + shown(block.text, kLongestLine) + "\n";
  for (const std::string& note : block.notes) {
    for (const std::string& line : split_lines(note)) {
      text += indent + "  " + shown(line, kLongestLine) + "\n";
    }
  }
  return text;
}

std::string lines_of(const Facts& block, const std::string& indent) {
  Rows rows;
  for (const Fact& fact : block.facts) {
    if (fact.where == Where::kPage) continue;
    std::string label = printable_line(fact.label);
    for (const std::string& line : split_lines(fact.value)) {
      rows.push_back({std::exchange(label, ""), shown(line, kLongestLine)});
    }
  }
  return aligned(rows, {ColumnKind::kText, ColumnKind::kText}, indent);
}

std::string lines_of(const Table& block, const std::string& indent) {
  if (block.rows.empty() && !block.empty.empty()) {
    return fmt::format("{}{}: {}\n", indent, printable_line(block.caption),
                       printable_line(block.empty));
  }
  std::vector<std::size_t> columns;
  std::vector<ColumnKind> kinds;
  Rows rows(1);
  for (std::size_t i = 0; i < block.columns.size(); ++i) {
    if (block.columns[i].where == Where::kPage) continue;
    columns.push_back(i);
    kinds.push_back(block.columns[i].kind);
    rows.front().push_back(shown(block.columns[i].title));
  }
  if (std::ranges::all_of(rows.front(), &std::string::empty)) rows.clear();
  for (const std::vector<Cell>& row : block.rows) {
    if (&row - block.rows.data() == static_cast<std::ptrdiff_t>(block.most_rows)) break;
    std::vector<std::string>& cells = rows.emplace_back();
    for (std::size_t i = 0; i < columns.size(); ++i) {
      cells.push_back(
          cut_text(replace_all(row[columns[i]].text, "\n", ", "), block.most_bytes, kinds[i]));
    }
  }
  std::string text = aligned(rows, kinds, indent);
  if (block.rows.size() > block.most_rows) {
    text += fmt::format("{}and {} more; --json and --html show all\n", indent,
                        block.rows.size() - block.most_rows);
  }
  return text;
}

std::string lines_of(const Bars& block, const std::string& indent) {
  Rows rows;
  const std::string* before = nullptr;
  for (const Bar& bar : block.bars) {
    std::vector<std::string> row = {
        before != nullptr && *before == bar.label ? "" : shown(bar.label), shown(bar.text)};
    if (!block.series.empty()) row.insert(row.begin() + 1, shown(block.series[bar.series]));
    rows.push_back(std::move(row));
    before = &bar.label;
  }
  std::vector<ColumnKind> kinds(block.series.empty() ? 1 : 2, ColumnKind::kText);
  kinds.push_back(ColumnKind::kNumber);
  return fmt::format("{}{}\n{}", indent, printable_line(block.caption),
                     aligned(rows, kinds, indent + "  "));
}

// Empty for a block of the page alone.
std::string block_text(const Block& block) {
  return std::visit(
      [](const auto& one) -> std::string {
        if constexpr (requires { lines_of(one, ""); }) {
          if constexpr (requires { one.where; }) {
            if (one.where == Where::kPage) return "";
          }
          return lines_of(one, "  ");
        }
        return "";
      },
      block);
}

std::string badge_text(const Badge& badge) {
  return badge.verdict == Verdict::kNone ? "" : ": " + printable_line(badge.text);
}

// Its blocks with blank lines between them, but for callouts one after the other.
std::string section_text(const Section& section) {
  std::string text;
  bool is_callout = false;
  for (const Block& block : section.blocks) {
    const std::string one = block_text(block);
    if (one.empty()) continue;
    const bool was_callout = std::exchange(is_callout, std::holds_alternative<Callout>(block));
    if (!text.empty() && !(was_callout && is_callout)) text += "\n";
    text += one;
  }
  if (section.title == kOverview) return text;
  if (text.empty() && section.badge.verdict == Verdict::kNone) return "";
  return fmt::format("\n{}{}\n{}", printable_line(section.title), badge_text(section.badge), text);
}

}  // namespace

std::string bytes_text(std::uint64_t bytes) {
  constexpr double kStep = 1000;
  constexpr std::array<const char*, 4> kUnits = {"kB", "MB", "GB", "TB"};
  if (bytes < 1000) return fmt::format("{} {}", bytes, bytes == 1 ? "byte" : "bytes");
  double size = static_cast<double>(bytes) / kStep;
  std::size_t unit = 0;
  while (size >= kStep - 0.5 && unit + 1 < kUnits.size()) size /= kStep, ++unit;
  return fmt::format("{:.{}f} {}", size, size < 99.95 ? 1 : 0, kUnits[unit]);
}

std::string grouped_digits(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t sign = number < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > sign + 3;) {
    at -= 3;
    text.insert(at, " ");
  }
  return text;
}

std::string text_of(const Table& table) { return lines_of(table, ""); }

std::string text_of(const Page& page) {
  std::string text;
  if (page.heading.empty()) {
    text = fmt::format("{} {}{}\n", printable_line(page.kind), printable_line(page.title),
                       badge_text(page.badge));
    if (!page.summary.empty()) text += lines_of(Text{page.summary}, "  ");
  } else {
    text = printable_line(page.heading) + badge_text(page.badge) + "\n";
  }
  for (const Section& section : page.sections) {
    if (section.where != Where::kPage) text += section_text(section);
  }
  return text;
}

}  // namespace tfaot::toolkit::report
