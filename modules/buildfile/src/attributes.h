// SPDX-License-Identifier: Apache-2.0
// One element of a BuildFile with its attributes checked against what scram takes. The place of an
// element is the line of its tag. Pure functions.
#pragma once

#include <map>
#include <pugixml.hpp>
#include <string>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct Element {
  std::string tag;          // in lower case, as scram compares
  std::string written_tag;  // as it stands there
  int line = 0;
  std::map<std::string, std::string> attributes;  // without "comment", which any may have
  std::string first_attribute;                    // all that scram reads of <flags>

  bool has(const char* name) const { return attributes.contains(name); }
  std::string value(const char* name) const {
    const auto entry = attributes.find(name);
    return entry == attributes.end() ? "" : entry->second;
  }
};

// Whether a BuildFile may hold the tag; its attributes are checked by read_element() if so.
bool is_known_tag(const std::string& tag);

// `file` and `text` are those the node came from.
Result<Element> read_element(const pugi::xml_node& node, const std::string& file,
                             const std::string& text);

}  // namespace tfaot::toolkit
