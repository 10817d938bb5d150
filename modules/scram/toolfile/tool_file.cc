// SPDX-License-Identifier: Apache-2.0
#include "tfaot/scram/tool_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>
#include <string_view>

#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/base/tool_names.h"
#include "tfaot/records/file_names.h"

namespace tfaot::toolkit {
namespace {

constexpr unsigned kParsing = pugi::parse_default | pugi::parse_comments;
constexpr unsigned kPrinting = pugi::format_indent | pugi::format_no_declaration;

std::string print(const pugi::xml_document& document) {
  std::ostringstream text;
  document.save(text, "  ", kPrinting, pugi::encoding_utf8);
  return text.str();
}

// Counts how deep elements are nested, and stops above the limit: every level is indented when the
// text is written again, so it grows with the square of the depth.
class DepthCheck : public pugi::xml_tree_walker {
 public:
  bool for_each(pugi::xml_node&) override { return depth() <= kMostNesting; }
};

// The attribute with the base, in the document that this reads.
Result<pugi::xml_attribute> read_base(pugi::xml_document& document, const ToolFileText& tool_file) {
  const std::string& xml = tool_file.xml;
  const Location where{.file = tool_file.file};
  if (xml.size() > kToolFileLimit.bytes) {
    return fail(Error::at(where, over_limit(xml.size(), kToolFileLimit)));
  }
  const pugi::xml_parse_result parsed = document.load_buffer(xml.data(), xml.size(), kParsing);
  if (!parsed) {
    return fail(Error::at({.file = tool_file.file, .line = line_at(xml, parsed.offset)},
                          "the tool file is not valid XML")
                    .note(parsed.description()));
  }
  DepthCheck depth;
  if (!document.traverse(depth)) {
    return fail(Error::at(
        where, fmt::format("the tool file is nested deeper than {} levels", kMostNesting)));
  }
  const pugi::xml_node tool = document.child("tool");
  const std::string variable = base_variable(tool.attribute("name").value());
  const pugi::xml_attribute base =
      tool.child("client")
          .find_child_by_attribute("environment", "name", variable.c_str())
          .attribute("default");
  if (base) return base;
  return fail(Error::at(where, "the tool file does not define its base")
                  .note(fmt::format("expected <environment name=\"{}\" default=\"...\"/> in the "
                                    "<client> of a <tool>",
                                    shown(variable))));
}

}  // namespace

Status check_tool_base(const std::string& tool_base) {
  const bool has_control = std::any_of(tool_base.begin(), tool_base.end(),
                                       [](char c) { return static_cast<unsigned char>(c) < ' '; });
  if (!tool_base.empty() && !has_control) return {};
  return fail(
      Error::usage(fmt::format("the tool base '{}' is empty or contains control characters",
                               printable_line(tool_base)))
          .note("it is the folder given with --tool-base, or the one that the package is installed "
                "into: choose another one"));
}

Result<std::string> formatted_tool_file(const std::string& xml) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(xml.data(), xml.size(), kParsing);
  if (!parsed) {
    return fail(
        Error::internal("the tool file's template is not valid XML").note(parsed.description()));
  }
  return print(document);
}

Result<std::string> rebase_tool_file(const ToolFileText& tool_file, const std::string& tool_base) {
  TFAOT_TRY(check_tool_base(tool_base));
  pugi::xml_document document;
  TFAOT_ASSIGN(pugi::xml_attribute base, read_base(document, tool_file));
  base.set_value(tool_base.c_str());
  return print(document);
}

Result<std::string> tool_base_of(const ToolFileText& tool_file) {
  pugi::xml_document document;
  TFAOT_ASSIGN(const pugi::xml_attribute base, read_base(document, tool_file));
  return std::string(base.value());
}

bool is_made_by_tfaot(const std::string& xml) {
  pugi::xml_document document;
  if (!document.load_buffer(xml.data(), xml.size(), kParsing)) return false;
  const auto children = document.children();
  return std::any_of(children.begin(), children.end(), [](const pugi::xml_node& node) {
    return node.type() == pugi::node_comment &&
           std::string_view(node.value()).find("Made by tfaot") != std::string_view::npos;
  });
}

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
    for (const std::string& word : split_words(flags.attribute("LDFLAGS").value())) {
      if (is_object_file(word)) heading.objects.push_back(word.substr(word.rfind('/') + 1));
    }
  }
  return heading;
}

}  // namespace tfaot::toolkit
