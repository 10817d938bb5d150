// SPDX-License-Identifier: Apache-2.0
#include "grammar/xml_source.h"

#include <algorithm>

#include "grammar/xml_syntax.h"

namespace tfaot::toolkit {

int XmlSource::line_at(std::ptrdiff_t offset) const {
  if (offset < 0) return 0;
  const auto end = std::ranges::lower_bound(line_ends_, offset);
  return static_cast<int>(end - line_ends_.begin()) + 1;
}

std::optional<XmlFault> XmlSource::parse(const std::string& text) {
  line_ends_.clear();
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) {
    line_ends_.push_back(static_cast<std::ptrdiff_t>(at));
  }
  if (const auto fault = first_syntax_fault(text)) {
    const int line = line_at(static_cast<std::ptrdiff_t>(fault->place));
    return XmlFault{line, fault->what, fault->scram, fault->advice};
  }
  const pugi::xml_parse_result parsed = document_.load_buffer(
      text.data(), text.size(), pugi::parse_default | pugi::parse_fragment, pugi::encoding_utf8);
  if (parsed) return std::nullopt;
  return XmlFault{line_at(parsed.offset), "not valid XML", SyntaxFault().scram,
                  std::string("correct it: ") + parsed.description()};
}

}  // namespace tfaot::toolkit
