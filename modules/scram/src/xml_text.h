// SPDX-License-Identifier: Apache-2.0
// XML as scram reads it: Python's parser is given "<root>", the file, "</root>". That refuses what
// pugixml takes (an <?xml?> line, "&" alone, an attribute twice) and takes what no XML file has
// (text and several elements outside). Only users of pugixml here: this and the checks.
#pragma once

#include <pugixml.hpp>
#include <string>

#include "findings.h"

namespace tfaot::toolkit {

class XmlText {
 public:
  // Findings instead when scram cannot parse it.
  bool parse(const std::string& text, Findings& findings);

  const pugi::xml_document& document() const { return document_; }
  // From 1.
  int line_of(const pugi::xml_node& node) const;

 private:
  std::string text_;
  pugi::xml_document document_;
};

}  // namespace tfaot::toolkit
