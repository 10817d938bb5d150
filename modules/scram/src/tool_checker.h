// SPDX-License-Identifier: Apache-2.0
// Goes through a parsed tool file, element by element, as scram does. One file; one thread.
#pragma once

#include <pugixml.hpp>
#include <set>
#include <string>
#include <vector>

#include "attribute_rules.h"
#include "findings.h"
#include "tfaot/base/file_system.h"
#include "tool_values.h"
#include "xml_text.h"

namespace tfaot::toolkit {

class ToolChecker {
 public:
  ToolChecker(const FileSystem& fs, const CheckToolOptions& options, const XmlText& xml,
              Findings& findings)
      : fs_(fs), options_(options), xml_(xml), findings_(findings), values_(options.environment) {}

  void check();

 private:
  void collect_variables(const pugi::xml_node& parent);
  void check_children(const pugi::xml_node& parent, bool conditional);
  void check_element(const pugi::xml_node& node, bool conditional);
  void check_unknown(const pugi::xml_node& node);
  bool check_attributes(const pugi::xml_node& node, const ElementRule& rule);
  void check_tool(const pugi::xml_node& node);
  void check_name(const pugi::xml_node& node);
  void check_environment(const pugi::xml_node& node);
  void check_flags(const pugi::xml_node& node);
  void check_words(int line, const std::string& flag, const std::string& value);
  void check_file(int line, const std::string& path);
  void check_runtime(const pugi::xml_node& node);
  void check_use(const pugi::xml_node& node);
  void check_condition(const pugi::xml_node& node);
  // Of a condition or an <elif>: what scram compares with.
  void check_comparison(const pugi::xml_node& node);
  void check_else(const pugi::xml_node& node);
  void check_base() const;
  // What is wrong with the value as such; false then.
  bool check_value(int line, const std::string& element, const ResolvedValue& value);
  void missing_attribute(const pugi::xml_node& node, const std::string& attribute);
  bool exists(const Path& path) const;

  const FileSystem& fs_;
  const CheckToolOptions& options_;
  const XmlText& xml_;
  Findings& findings_;
  ToolValues values_;
  std::string name_;                 // lower case, of the tool
  std::set<std::string> variables_;  // defined by <environment>
  std::string archive_;              // the last static library in LDFLAGS
  int tools_ = 0;
};

}  // namespace tfaot::toolkit
