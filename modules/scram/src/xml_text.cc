// SPDX-License-Identifier: Apache-2.0
#include "xml_text.h"

#include <fmt/format.h>

#include <regex>
#include <set>

#include "tfaot/base/text.h"

namespace tfaot {
namespace {

constexpr const char* kCrash = "stops with a Python traceback: it cannot parse the file";

// The text with comments blanked, line ends kept: what they hold is free.
std::string without_comments(std::string text) {
  for (std::size_t start = text.find("<!--"); start != std::string::npos;
       start = text.find("<!--", start + 1)) {
    const std::size_t end = text.find("-->", start + 4);
    const std::size_t stop = end == std::string::npos ? text.size() : end + 3;
    for (std::size_t i = start; i < stop; ++i) {
      if (text[i] != '\n') text[i] = ' ';
    }
  }
  return text;
}

}  // namespace

int XmlText::line_of(const pugi::xml_node& node) const {
  const std::ptrdiff_t offset = node.offset_debug();
  return offset < 0 ? 0 : line_at(text_, offset);
}

bool XmlText::check_declarations(Findings& findings) const {
  const std::string code = without_comments(text_);
  bool fine = true;
  for (const char* opening : {"<?xml", "<!DOCTYPE"}) {
    const std::size_t place = code.find(opening);
    if (place == std::string::npos) continue;
    findings.error(line_at(text_, static_cast<std::ptrdiff_t>(place)),
                   fmt::format("{} ...> does not belong in a tool file", opening),
                   {kCrash, "remove the line"});
    fine = false;
  }
  return fine;
}

bool XmlText::check_entities(Findings& findings) const {
  static const std::regex kEntity("&(amp|lt|gt|quot|apos|#[0-9]+|#x[0-9a-fA-F]+);.*");
  const std::string code = without_comments(text_);
  bool fine = true;
  for (std::size_t place = code.find('&'); place != std::string::npos;
       place = code.find('&', place + 1)) {
    if (std::regex_match(code.substr(place, 12), kEntity)) continue;
    findings.error(line_at(text_, static_cast<std::ptrdiff_t>(place)),
                   "a '&' that begins no entity", {kCrash, "write &amp;"});
    fine = false;
  }
  return fine;
}

bool XmlText::check_attributes(const pugi::xml_node& parent, Findings& findings) const {
  bool fine = true;
  for (const pugi::xml_node& node : parent.children()) {
    std::set<std::string> names;
    for (const pugi::xml_attribute& attribute : node.attributes()) {
      if (names.insert(attribute.name()).second) continue;
      findings.error(
          line_of(node),
          fmt::format("<{}> has the attribute '{}' twice", node.name(), attribute.name()),
          {kCrash, "keep one of them"});
      fine = false;
    }
    fine = check_attributes(node, findings) && fine;
  }
  return fine;
}

bool XmlText::parse(const std::string& text, Findings& findings) {
  text_ = text;
  if (!check_declarations(findings)) return false;
  const pugi::xml_parse_result parsed = document_.load_buffer(
      text.data(), text.size(), pugi::parse_default | pugi::parse_fragment, pugi::encoding_utf8);
  if (!parsed) {
    findings.error(line_at(text_, parsed.offset), "not valid XML",
                   {kCrash, std::string("correct it: ") + parsed.description()});
    return false;
  }
  return check_entities(findings) && check_attributes(document_, findings);
}

}  // namespace tfaot
