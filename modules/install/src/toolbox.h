// SPDX-License-Identifier: Apache-2.0
// The tool files in the toolboxes of a release area, config/toolbox/[SCRAM_ARCH/]tools/selected.
// They are plain files: scram copies a release's toolbox into every developer area, where links
// would lead nowhere. It also writes through a link when another tool file of that name is set up.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/install/install_types.h"

namespace tfaot::toolkit {

// What a toolbox contains under the name of a tool.
struct ToolboxEntry {
  enum class Maker { kNobody, kTfaot, kOther };
  Maker maker = Maker::kNobody;  // kNobody: the file does not exist
  // The package of this area to which a file of ours belongs; empty if there is none.
  std::string tool_name{};
  std::string version{};
};
ToolboxEntry read_toolbox_entry(const FileSystem& fs, const Path& area, const Path& file);

// The files of this tool in all toolboxes of the area; the toolbox without a SCRAM_ARCH comes
// first. Toolboxes that links lead to are another area's.
std::vector<Path> tool_files_in(const FileSystem& fs, const Path& area,
                                const std::string& tool_name);

// The version of the package that the runtime's tool file leads to; empty if there is none, or none
// that works.
std::string toolkit_of_runtime(const FileSystem& fs, const Path& tool_file);

}  // namespace tfaot::toolkit
