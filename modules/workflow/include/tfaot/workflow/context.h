// SPDX-License-Identifier: Apache-2.0
// What every function of this room may use of the outside world. The program that calls it looks
// all of it up; nothing here reads the environment itself. A workflow takes a Context by reference
// and keeps nothing of it. One workflow at a time per Context.
#pragma once

#include <map>
#include <string>

#include "tfaot/base/diagnostics.h"
#include "tfaot/base/file_system.h"

namespace tfaot::toolkit {

/// The place and the kind of machine that a program runs on, and its environment variables.
struct Environment {
  std::string cmssw_base;  ///< $CMSSW_BASE, empty when unset
  std::string engine;      ///< $TFAOT_ENGINE, empty when unset
  std::string code_cache;  ///< $TFAOT_CACHE, else below the user's cache folder; may be empty
  std::map<std::string, std::string> variables;  ///< all of it: what scram would see
  Path working_directory;                        ///< absolute
  Path program;              ///< the tool's executable, absolute, links resolved
  std::string architecture;  ///< of the machine, "x86_64"
  unsigned cores = 1;        ///< that this process may use
};

/// Files, the place for messages, and the environment. REQUIRES: all three outlive the workflow.
struct Context {
  FileSystem& files;
  Diagnostics& diagnostics;
  const Environment& environment;

  /// The absolute, normal form of a path that the user wrote; without a trailing slash.
  Path absolute(const Path& path) const;
};

/// "$CMSSW_BASE/rest" when CMSSW_BASE is set and `path` lies in it, else `path`.
std::string cmssw_relative(const Environment& environment, const Path& path);

/// Warns when scram could not use a tool file with this base, as it holds blanks.
void warn_of_blanks(Diagnostics& diagnostics, const std::string& tool_base);

}  // namespace tfaot::toolkit
