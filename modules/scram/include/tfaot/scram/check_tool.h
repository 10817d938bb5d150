// SPDX-License-Identifier: Apache-2.0
// Reads a scram tool file as scram (SCRAMV3) does and reports what will go wrong: what scram
// complains about, what it drops, where it crashes, and what fails later in a build. Reads the
// files and folders that the tool names; changes nothing. Safe from many threads.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

enum class Severity { kWarning, kError };

struct ToolFinding {
  Severity severity = Severity::kError;
  int line = 0;       // of the tool file, from 1; 0: the file as a whole
  std::string what;   // "<tool> has no attribute 'revision'"
  std::string scram;  // what scram does with it: prints, drops, crashes
  std::string advice;
};

struct CheckToolOptions {
  std::filesystem::path file;                         // absolute
  std::map<std::string, std::string> environment{};   // scram's: gives the values of $NAMES
  std::vector<std::filesystem::path> tool_folders{};  // where NAME.xml of used tools may be
  bool all_tools_known = false;  // a used tool in none of them is missing, not just unseen
};

struct ToolReport {
  std::vector<ToolFinding> findings;  // by line
};

// Error: the file cannot be read. A file that is not a tool file at all is a finding.
Result<ToolReport> check_tool(const FileSystem& fs, const CheckToolOptions& options);

// "FILE:3: error: what", then, indented, what scram does and what to do. Ends with a newline.
std::string finding_text(const ToolFinding& finding, const std::string& file);

}  // namespace tfaot::toolkit
