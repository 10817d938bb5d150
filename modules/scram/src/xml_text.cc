// SPDX-License-Identifier: Apache-2.0
#include "xml_text.h"

#include "tfaot/base/text.h"
#include "xml_syntax.h"

namespace tfaot::toolkit {
int XmlText::line_of(const pugi::xml_node& node) const {
  const std::ptrdiff_t offset = node.offset_debug();
  return offset < 0 ? 0 : line_at(text_, offset);
}

bool XmlText::parse(const std::string& text, Findings& findings) {
  text_ = text;
  if (const auto fault = first_syntax_fault(text)) {
    findings.error(line_at(text_, static_cast<std::ptrdiff_t>(fault->place)), fault->what,
                   {fault->scram, fault->advice});
    return false;
  }
  const pugi::xml_parse_result parsed = document_.load_buffer(
      text.data(), text.size(), pugi::parse_default | pugi::parse_fragment, pugi::encoding_utf8);
  if (!parsed) {
    findings.error(line_at(text_, parsed.offset), "not valid XML",
                   {SyntaxFault().scram, std::string("correct it: ") + parsed.description()});
    return false;
  }
  return true;
}

}  // namespace tfaot::toolkit
