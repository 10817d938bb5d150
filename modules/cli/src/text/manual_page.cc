// SPDX-License-Identifier: Apache-2.0
#include "text/manual_page.h"

#include <fmt/format.h>

#include "help_templates.h"
#include "tfaot/base/letter_case.h"
#include "tfaot/base/render.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

// A '-' would become a hyphen that cannot be pasted, and a line that begins with '.' or ''' would
// be a command.
std::string roff(const std::string& text) {
  std::string escaped;
  for (const std::string& line : split_lines(text)) {
    if (!escaped.empty()) escaped += '\n';
    if (line.starts_with('.') || line.starts_with('\'')) escaped += "\\&";
    escaped += replace_all(replace_all(line, "\\", "\\e"), "-", "\\-");
  }
  return escaped;
}

// The entries below each heading; headings are in the order of their first entries.
class Groups {
 public:
  void add(const std::string& heading, const std::string& term, const std::string& text) {
    if (headings_.empty() || headings_.back() != heading) {
      headings_.push_back(heading);
      entries_.emplace_back(TemplateData::type::list);
    }
    entries_.back() << TemplateData(TemplateObject{{"term", roff(term)}, {"text", roff(text)}});
  }
  TemplateData data() const {
    TemplateData list{TemplateData::type::list};
    for (std::size_t i = 0; i < headings_.size(); ++i) {
      list << TemplateData(
          TemplateObject{{"heading", upper_case(roff(headings_[i]))}, {"entries", entries_[i]}});
    }
    return list;
  }

 private:
  std::vector<std::string> headings_;
  std::vector<TemplateData> entries_;
};

std::string page(const std::string& name, const CommandRecord& command, const Groups& groups,
                 const std::string& see_also) {
  const TemplateObject data = {{"version", TFAOT_VERSION},     {"title", upper_case(name)},
                               {"page", roff(name)},           {"summary", roff(command.summary)},
                               {"usage", roff(command.usage)}, {"groups", groups.data()},
                               {"notes", roff(command.notes)}, {"see_also", see_also}};
  return render(templates::kManualPage, data, Escaping::kNone);
}

void add_options(Groups& groups, const CommandRecord& command) {
  for (const OptionRecord& option : command.options) {
    std::string term = join(option.names, ", ");
    if (!term.empty() && !option.value.empty()) term += " ";
    groups.add(option.group, term + option.value, option.help);
  }
}

}  // namespace

std::string manual_page(const CommandRecord& tool) {
  Groups groups;
  std::vector<std::string> pages;
  add_options(groups, tool);
  for (const CommandRecord& verb : tool.verbs) {
    groups.add(verb.group, verb.name, verb.summary);
    pages.push_back(fmt::format(".BR {}\\-{} (1)", tool.name, roff(verb.name)));
  }
  return page(tool.name, tool, groups, join(pages, ",\n"));
}

std::string manual_page(const CommandRecord& tool, const CommandRecord& verb) {
  Groups groups;
  add_options(groups, verb);
  return page(tool.name + "-" + verb.name, verb, groups, fmt::format(".BR {} (1)", tool.name));
}

}  // namespace tfaot::toolkit
