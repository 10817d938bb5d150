// SPDX-License-Identifier: Apache-2.0
// Records of the scram room: what is wrong with a tool file, as scram (SCRAMV3) would see it.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

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

}  // namespace tfaot::toolkit
