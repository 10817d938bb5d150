// SPDX-License-Identifier: Apache-2.0
// Checks a parsed tool file, element by element, in scram's order. One file; one thread.
#pragma once

#include <pugixml.hpp>
#include <string>

#include "grammar/elements.h"
#include "grammar/xml_source.h"
#include "tfaot/base/file_system.h"
#include "toolfile/findings.h"
#include "toolfile/value_checks.h"

namespace tfaot::toolkit {

class ToolChecker {
 public:
  ToolChecker(const FileSystem& fs, const CheckToolOptions& options, const XmlSource& xml,
              Findings& findings)
      : options_(options), xml_(xml), findings_(findings), values_(fs, options, xml, findings) {}

  void check();

 private:
  void collect_variables(const pugi::xml_node& parent);
  void check_children(const pugi::xml_node& parent, bool conditional);
  void check_element(const pugi::xml_node& node, bool conditional);
  void check_unknown(const pugi::xml_node& node);
  bool check_attributes(const pugi::xml_node& node, const ElementRule& rule);
  void check_tool(const pugi::xml_node& node);
  void check_name(const pugi::xml_node& node);
  void check_condition(const pugi::xml_node& node);
  // For a condition or an <elif>: what scram compares with.
  void check_comparison(const pugi::xml_node& node);
  void check_case(const pugi::xml_node& node);
  void check_base();

  const CheckToolOptions& options_;
  const XmlSource& xml_;
  Findings& findings_;
  ValueChecks values_;
  std::string name_;  // lower case, of the tool
  int tools_ = 0;
  bool is_project_ = false;
};

}  // namespace tfaot::toolkit
