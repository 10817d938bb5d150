// SPDX-License-Identifier: Apache-2.0
// What every verb may use of the outside world, looked up once in main(): files, console,
// environment, place and kind of machine. Verbs take it by reference and hold nothing of it. One
// per process; one thread.
#pragma once

#include <map>
#include <string>

#include "console.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct Environment {
  std::string cmssw_base;  // $CMSSW_BASE, empty when unset
  std::string engine;      // $TFAOT_ENGINE, empty when unset
  std::string code_cache;  // $TFAOT_CACHE, else below the user's cache folder; may be empty
  std::map<std::string, std::string> variables;  // all of it: what scram would see
  Path working_directory;                        // absolute
  Path program;                                  // this executable, absolute, links resolved
  std::string architecture;                      // of the machine, "x86_64"
  unsigned cores = 1;                            // that this process may use
};

struct Context {
  FileSystem& files;
  Console& console;
  const Environment& environment;

  // The absolute, normal form of a path that the user wrote; without a trailing slash.
  Path absolute(const Path& path) const;
};

Result<Environment> look_up_environment(const FileSystem& files);

// "$CMSSW_BASE/rest" when CMSSW_BASE is set and `path` lies in it, else `path`.
std::string cmssw_relative(const Environment& environment, const Path& path);

// A tool file whose base holds blanks is of no use to scram; all else of the package is.
void warn_of_blanks(Console& console, const std::string& tool_base);

}  // namespace tfaot::toolkit
