// SPDX-License-Identifier: Apache-2.0
// scram's tool files.
#include "tfaot/scram/tool_file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/memory_file_system.h"
#include "tfaot/scram/check_tool.h"

namespace tfaot::toolkit {

void fuzz(const std::string& bytes) {
  const testing::MemoryFileSystem files({{"/tool.xml", bytes}});
  if (const auto report = check_tool(files, {.file = "/tool.xml"})) {
    for (const ToolFinding& finding : report->findings) {
      static_cast<void>(finding_text(finding, "/tool.xml"));
    }
  }
  static_cast<void>(is_made_by_tfaot(bytes));
  static_cast<void>(read_tool_heading(bytes));
  static_cast<void>(tool_base_of({bytes, "tool.xml"}));
  const auto moved = rebase_tool_file({bytes, "tool.xml"}, "/else/where");
  if (moved) {
    const auto base = tool_base_of({*moved, "tool.xml"});
    require(!base || *base == "/else/where", "a tool that was moved is there");
  }
  const auto formatted = formatted_tool_file(bytes);
  if (formatted) {
    require(formatted_tool_file(*formatted).has_value(), "a formatted file can be read");
  }
}

}  // namespace tfaot::toolkit
