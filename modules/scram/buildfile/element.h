// SPDX-License-Identifier: Apache-2.0
// One element of a BuildFile, its attributes checked against those that scram accepts. Pure
// functions.
#pragma once

#include <map>
#include <pugixml.hpp>
#include <string>

#include "grammar/xml_source.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct Element {
  std::string tag;                                // in lower case, as scram compares
  std::string written_tag;                        // as written in the file
  int line = 0;                                   // of the tag
  std::map<std::string, std::string> attributes;  // without "comment"
  std::string first_attribute;                    // all that scram reads of <flags>

  bool has(const char* name) const { return attributes.contains(name); }
  std::string value(const char* name) const {
    const auto entry = attributes.find(name);
    return entry == attributes.end() ? "" : entry->second;
  }
};

// Whether it is an element of BuildFiles and not a condition.
bool is_known_tag(const std::string& tag);

// `file` is for messages. An attribute that scram does not know is an error, because scram would
// lose the rest of the BuildFile. Attributes of unknown elements are not checked.
Result<Element> read_element(const pugi::xml_node& node, const XmlSource& xml,
                             const std::string& file);

}  // namespace tfaot::toolkit
