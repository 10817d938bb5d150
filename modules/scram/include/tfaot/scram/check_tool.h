// SPDX-License-Identifier: Apache-2.0
// Reads a scram tool file as scram (SCRAMV3) does and reports what will go wrong: what scram
// complains about, what it drops, where it crashes, and what fails later in a build. Reads the
// files and folders that the tool names; changes nothing. Safe from many threads.
#pragma once

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/scram/scram_types.h"

namespace tfaot::toolkit {

// Error: the file cannot be read. A file that is not a tool file at all is a finding.
Result<ToolReport> check_tool(const FileSystem& fs, const CheckToolOptions& options);

// "FILE:3: error: what", then, indented, what scram does and what to do. Ends with a newline.
std::string finding_text(const ToolFinding& finding, const std::string& file);

}  // namespace tfaot::toolkit
