// SPDX-License-Identifier: Apache-2.0
// The elements of a tool file whose values matter: <environment>, <flags>, <runtime>, <use>. One
// file; one thread.
#pragma once

#include <pugixml.hpp>
#include <string>

#include "grammar/xml_source.h"
#include "tfaot/base/file_system.h"
#include "toolfile/findings.h"
#include "toolfile/tool_values.h"

namespace tfaot::toolkit {

class ValueChecks {
 public:
  ValueChecks(const FileSystem& fs, const CheckToolOptions& options, const XmlSource& xml,
              Findings& findings)
      : fs_(fs), options_(options), xml_(xml), findings_(findings), values_(options.environment) {}

  // Define all variables before the first check: a value may use one that is defined below it.
  ToolValues& variables() { return values_; }
  // In lower case.
  void set_tool_name(const std::string& name) { tool_name_ = name; }

  // In the order of the file.
  void check_environment(const pugi::xml_node& node);
  void check_flags(const pugi::xml_node& node);
  void check_runtime(const pugi::xml_node& node);
  void check_use(const pugi::xml_node& node);

 private:
  void check_words(int line, const std::string& flag, const std::string& value);
  void check_file(int line, const std::string& path);
  // Reports what is wrong with the value itself; then returns false.
  bool check_value(int line, const std::string& element, const ResolvedValue& value);
  bool exists(const Path& path) const;

  const FileSystem& fs_;
  const CheckToolOptions& options_;
  const XmlSource& xml_;
  Findings& findings_;
  ToolValues values_;
  std::string tool_name_;
  std::string archive_;  // the last static library in LDFLAGS
};

}  // namespace tfaot::toolkit
