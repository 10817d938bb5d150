// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <pugixml.hpp>

#include "tfaot/base/text.h"
#include "tfaot/generate/tool_file_xml.h"
#include "tfaot/records/file_names.h"

namespace tfaot::toolkit {

Result<ToolHeading> read_tool_heading(const std::string& xml) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(xml.data(), xml.size());
  const pugi::xml_node tool = document.child("tool");
  if (!parsed || !tool) {
    return fail(
        Error("not a tool file").note(parsed ? "there is no <tool>" : parsed.description()));
  }
  ToolHeading heading{tool.attribute("name").value(), tool.attribute("version").value(), {}};
  for (const pugi::xml_node flags : tool.children("flags")) {
    const std::string words = flags.attribute("LDFLAGS").value();
    for (const std::string& word : split_lines(replace_all(words, " ", "\n"))) {
      if (is_object_file(word)) heading.objects.push_back(word.substr(word.rfind('/') + 1));
    }
  }
  return heading;
}

}  // namespace tfaot::toolkit
