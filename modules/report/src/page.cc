// SPDX-License-Identifier: Apache-2.0
#include "tfaot/report/page.h"

#include <fmt/format.h>

#include <set>

#include "page_blocks.h"
#include "page_templates.h"
#include "page_text.h"
#include "tfaot/base/printable.h"

namespace tfaot::toolkit::report {
namespace {

// Fewer sections need no list of contents.
constexpr std::size_t kFewestContents = 3;

TemplateList highlights_of(const Page& page) {
  TemplateList highlights;
  for (const Highlight& one : page.highlights) {
    highlights.push_back(TemplateObject{{"label", printable_line(one.label)},
                                        {"value", printable_line(one.value)},
                                        {"note", line_data(one.note)}});
  }
  return highlights;
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
    TemplateList blocks;
    for (const Block& block : section.blocks) blocks.push_back(block_data(block));
    TemplateObject object = {{"id", anchors.next(section.title)},
                             {"title", printable_line(section.title)},
                             {"badge", badge_data(section.badge)}};
    object["blocks"] = blocks;
    sections.push_back(object);
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
  data["highlights"] = highlights_of(page);
  data["sections"] = sections_of(page);
  return render(kPageTemplate, data, Escaping::kXml);
}

}  // namespace tfaot::toolkit::report
