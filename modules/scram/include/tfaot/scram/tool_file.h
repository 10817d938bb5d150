// SPDX-License-Identifier: Apache-2.0
// The text of scram tool files: their layout, their base folder, and what they say of a tool. Pure
// functions.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// A base that a tool file can hold: not empty, without control characters.
Status check_tool_base(const std::string& tool_base);
// The same XML as every tool file of tfaot is laid out.
Result<std::string> formatted_tool_file(const std::string& xml);

// A tool file, the model's or the runtime's, that may come from anywhere.
struct ToolFileText {
  std::string xml;
  std::string file;  // names it in errors
};
// The same tool file with another base: that of an installed package.
Result<std::string> rebase_tool_file(const ToolFileText& tool_file, const std::string& tool_base);
// The base folder that it defines.
Result<std::string> tool_base_of(const ToolFileText& tool_file);
// Whether tfaot made it, as the comment at its top says.
bool is_made_by_tfaot(const std::string& xml);

// What any tool file says of itself, upstream's too.
struct ToolHeading {
  std::string name;
  std::string version;
  std::vector<std::string> objects;  // file names of the objects in its LDFLAGS
};
Result<ToolHeading> read_tool_heading(const std::string& xml);

}  // namespace tfaot::toolkit
