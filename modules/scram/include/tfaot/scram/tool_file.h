// SPDX-License-Identifier: Apache-2.0
// The text of scram tool files: their layout, their base folder, and their description of a tool.
// Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// Whether a tool file can have this base: not empty, without control characters.
Status check_tool_base(const std::string& tool_base);
// The same XML in the layout of all tool files of tfaot.
Result<std::string> formatted_tool_file(const std::string& xml);

// A tool file of the model or the runtime, which may come from anywhere.
struct ToolFileText {
  std::string xml;
  std::string file;  // names it in errors
};
// The same tool file with another base: that of an installed package.
Result<std::string> rebase_tool_file(const ToolFileText& tool_file, const std::string& tool_base);
// The base folder that it defines.
Result<std::string> tool_base_of(const ToolFileText& tool_file);
// True if tfaot made it, according to the comment at its top.
bool is_made_by_tfaot(const std::string& xml);

// What any tool file contains, including upstream's.
struct ToolHeading {
  std::string name;
  std::string version;
  std::vector<std::string> objects;  // file names of the objects in its LDFLAGS
};
Result<ToolHeading> read_tool_heading(const std::string& xml);

}  // namespace tfaot::toolkit
