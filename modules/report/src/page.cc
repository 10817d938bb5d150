// SPDX-License-Identifier: Apache-2.0
#include "tfaot/report/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <variant>

#include "page_templates.h"
#include "page_text.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/render.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::report {
namespace {

// Converts the blocks of a page to the template's values.

constexpr std::size_t kShortText = 28;  // bytes

// The classes are in the order of the enum.
const char* class_of(Verdict verdict) {
  constexpr std::array kClasses = {"", "note", "good", "warning", "bad"};
  return kClasses.at(static_cast<std::size_t>(verdict));
}

const char* class_of(ColumnKind kind) {
  constexpr std::array kClasses = {"text", "code", "number", "hash"};
  return kClasses.at(static_cast<std::size_t>(kind));
}

std::string percent(double share) {
  return fmt::format("{:.2f}", 100 * std::clamp(share, 0.0, 1.0));
}

// The class and the text of a badge, or false.
TemplateData badge_data(const Badge& badge) {
  if (badge.verdict == Verdict::kNone) return false;
  return TemplateObject{{"class", class_of(badge.verdict)}, {"text", printable_line(badge.text)}};
}

// A line of text, or false if it is empty: the template tells them apart.
TemplateData line_data(const std::string& text) {
  return text.empty() ? TemplateData(false) : TemplateData(printable_line(text));
}

TemplateObject data_of(const Text& block) { return {{"text", printable_line(block.text)}}; }

TemplateObject data_of(const Callout& block) {
  TemplateList notes;
  for (const std::string& note : block.notes) {
    for (const std::string& line : split_lines(note)) {
      notes.push_back(TemplateObject{{"note", printable_line(line)}});
    }
  }
  return {{"class", class_of(block.verdict)},
          {"text", printable_line(block.text)},
          {"has_notes", !notes.empty()},
          {"notes", std::move(notes)}};
}

TemplateObject data_of(const Facts& block) {
  TemplateList facts;
  for (const Fact& fact : block.facts) {
    if (fact.value.empty() || fact.where == Where::kText) continue;
    facts.push_back(TemplateObject{{"label", printable_line(fact.label)},
                                   {"value", printable_text(fact.value)}});
  }
  return {{"list", std::move(facts)}};
}

// A column that needs no line breaks: it takes the room that it needs, so that others get more.
bool is_short(const Table& table, std::size_t column) {
  const ColumnKind kind = table.columns[column].kind;
  if (kind != ColumnKind::kCode && kind != ColumnKind::kText) return false;
  return std::ranges::all_of(table.rows, [&](const std::vector<Cell>& row) {
    const std::string& text = row[column].text;
    return text.size() <= kShortText && text.find('\n') == std::string::npos;
  });
}

TemplateObject cell_of(const Cell& cell, const std::string& style) {
  TemplateObject object = {{"class", style},
                           {"text", printable_text(cell.text)},
                           {"number", false},
                           {"badge", false},
                           {"share", false}};
  if (cell.number) object["number"] = fmt::format("{}", *cell.number);
  if (cell.verdict != Verdict::kNone) object["badge"] = class_of(cell.verdict);
  if (cell.share) object["share"] = percent(*cell.share);
  return object;
}

// `text`: shown instead of an empty one.
TemplateObject data_of(const Table& block) {
  TemplateList columns;
  std::vector<std::string> styles;
  for (std::size_t i = 0; i < block.columns.size(); ++i) {
    const Column& column = block.columns[i];
    styles.push_back(class_of(column.kind) + std::string(is_short(block, i) ? " short" : ""));
    if (column.where == Where::kText) continue;
    columns.push_back(
        TemplateObject{{"class", class_of(column.kind)}, {"title", printable_line(column.title)}});
  }
  TemplateList rows;
  for (const std::vector<Cell>& row : block.rows) {
    TemplateList cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (block.columns[i].where != Where::kText) cells.push_back(cell_of(row[i], styles[i]));
    }
    rows.push_back(TemplateObject{{"cells", std::move(cells)}});
  }
  return {{"caption", printable_line(block.caption)},
          {"text", printable_line(block.empty)},
          {"columns", std::move(columns)},
          {"rows", std::move(rows)}};
}

TemplateObject data_of(const Bars& block) {
  double most = 0;
  for (const Bar& bar : block.bars) most = std::max(most, bar.value);
  TemplateList bars;
  const std::string* before = nullptr;
  for (const Bar& bar : block.bars) {
    TemplateObject object = {
        {"first", before == nullptr || *before != bar.label},
        {"label", printable_line(bar.label)},
        {"text", printable_line(bar.text)},
        {"colour", std::to_string(bar.series % kMostSeries + 1)},
        {"series", bar.series < block.series.size() ? line_data(block.series[bar.series]) : false},
        {"width", percent(most > 0 ? bar.value / most : 0)}};
    bars.push_back(object);
    before = &bar.label;
  }
  TemplateList legend;
  for (std::size_t i = 0; i < block.series.size(); ++i) {
    legend.push_back(TemplateObject{{"colour", std::to_string(i % kMostSeries + 1)},
                                    {"name", printable_line(block.series[i])}});
  }
  return {{"caption", printable_line(block.caption)},
          {"list", std::move(bars)},
          {"has_legend", !legend.empty()},
          {"legend", std::move(legend)}};
}

TemplateObject data_of(const Listing& block) {
  // Unmarked lines go together: a listing may have many.
  TemplateList lines;
  std::string rest;
  const std::vector<std::string> all = split_lines(block.text);
  const auto flush = [&] {
    if (rest.empty()) return;
    lines.push_back(TemplateObject{{"marked", false}, {"line", rest}, {"end", ""}});
    rest.clear();
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string line = printable_line(all[i]);
    if (!contains(block.marked, i + 1)) {
      rest += line + "\n";
      continue;
    }
    flush();
    lines.push_back(TemplateObject{{"marked", true}, {"line", line}, {"end", "\n"}});
  }
  flush();
  return {
      {"title", printable_line(block.title)},
      {"size", all.size() == 1 ? "1 line"
                               : grouped_digits(static_cast<std::int64_t>(all.size())) + " lines"},
      {"open", block.open},
      {"lines", std::move(lines)}};
}

TemplateObject data_of(const Figure& block) {
  return {{"title", printable_line(block.title)},
          {"caption", line_data(block.caption)},
          {"zoomable", block.zoomable},
          {"folded", block.folded},
          {"svg", svg_element(block.svg)}};
}

TemplateObject data_of(const Link& block) {
  return {{"text", printable_line(block.text)}, {"address", printable_line(block.address)}};
}

// The keys of the kinds of blocks, in the order of Block.
constexpr std::array kBlockKeys = {"paragraph", "callout", "facts",  "table",
                                   "bars",      "listing", "figure", "link"};
static_assert(kBlockKeys.size() == std::variant_size_v<Block>);

// Keys for all kinds of blocks, false for all but the block's own: a key that is missing would be
// looked up in what is around the block.
TemplateData block_data(const Block& block) {
  TemplateObject data = {{"empty_table", false}};
  for (const char* key : kBlockKeys) data[key] = false;
  const auto* const table = std::get_if<Table>(&block);
  const bool is_empty = table != nullptr && table->rows.empty();
  data[is_empty ? "empty_table" : kBlockKeys.at(block.index())] =
      std::visit([](const auto& one) { return data_of(one); }, block);
  return data;
}

bool is_on_page(const Block& block) {
  return std::visit(
      [](const auto& one) {
        if constexpr (requires { one.where; }) return one.where != Where::kText;
        return true;
      },
      block);
}

// Fewer sections need no list of contents.
constexpr std::size_t kFewestContents = 3;

TemplateObject highlight_of(const Highlight& one) {
  return {{"label", printable_line(one.label)},
          {"value", printable_line(one.value)},
          {"note", line_data(one.note)}};
}

// Anchors keep their names when other sections come or go; equal titles get numbers.
class Anchors {
 public:
  std::string next(const std::string& title) {
    std::string slug = slug_of(title);
    // The page's own names.
    if (slug.empty() || slug == "content" || slug == "data") slug = "section-" + slug;
    std::string name = slug;
    for (int number = 2; !used_.insert(name).second; ++number) {
      name = fmt::format("{}-{}", slug, number);
    }
    return name;
  }

 private:
  std::set<std::string> used_;
};

TemplateList sections_of(const Page& page) {
  TemplateList sections;
  Anchors anchors;
  for (const Section& section : page.sections) {
    if (section.where == Where::kText) continue;
    TemplateList blocks;
    for (const Block& block : section.blocks) {
      if (is_on_page(block)) blocks.push_back(block_data(block));
    }
    sections.push_back(TemplateObject{{"id", anchors.next(section.title)},
                                      {"title", printable_line(section.title)},
                                      {"badge", badge_data(section.badge)},
                                      {"blocks", std::move(blocks)}});
  }
  return sections;
}

}  // namespace

std::string html_of(const Page& page) {
  const std::string script(kPageScript);
  const std::string name = slug_of(page.kind + " " + page.title);
  TemplateObject data = {{"kind", printable_line(page.kind)},
                         {"title", printable_line(page.title)},
                         {"badge", badge_data(page.badge)},
                         {"summary", line_data(page.summary)},
                         {"has_highlights", !page.highlights.empty()},
                         {"has_contents", page.sections.size() >= kFewestContents},
                         {"command", printable_line(page.command)},
                         {"toolkit_version", page.toolkit_version},
                         {"file_name", name + ".json"},
                         {"data", json_in_html(page.data)},
                         {"style", std::string(kPageStyle)},
                         {"script", script},
                         {"script_hash", policy_hash(script)}};
  data["highlights"] = list_data(page.highlights, highlight_of);
  data["sections"] = sections_of(page);
  return render(kPageTemplate, data, Escaping::kXml);
}

}  // namespace tfaot::toolkit::report
