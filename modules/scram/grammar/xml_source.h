// SPDX-License-Identifier: Apache-2.0
// XML as scram reads it: Python's parser, expat, gets "<root>", the file, "</root>". That refuses
// an
// <?xml?> line and accepts some things that are not allowed in XML files (text and several elements
// at the top level). pugixml, which accepts more, makes the tree.
#pragma once

#include <optional>
#include <pugixml.hpp>
#include <string>
#include <vector>

namespace tfaot::toolkit {

// Why scram cannot parse a file.
struct XmlFault {
  int line = 0;  // from 1
  std::string what;
  std::string scram;  // what scram does, as in "stops with ..."
  std::string advice;
};

class XmlSource {
 public:
  std::optional<XmlFault> parse(const std::string& text);

  const pugi::xml_document& document() const { return document_; }
  // Counted from 1; 0 if there is no element.
  int line_of(const pugi::xml_node& node) const { return line_at(node.offset_debug()); }

 private:
  int line_at(std::ptrdiff_t offset) const;

  std::vector<std::ptrdiff_t> line_ends_;
  pugi::xml_document document_;
};

}  // namespace tfaot::toolkit
