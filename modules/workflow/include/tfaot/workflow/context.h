// SPDX-License-Identifier: Apache-2.0
// The access to the outside world that every function of this room gets. The calling program looks
// all of it up; nothing here reads the environment itself. A workflow takes a Context by reference
// and keeps nothing of it. One workflow at a time per Context.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tfaot/base/diagnostics.h"
#include "tfaot/base/file_system.h"

namespace tfaot::toolkit {

/// The place and the kind of machine that a program runs on, and its environment variables.
struct Environment {
  std::string cmssw_base;                        ///< $CMSSW_BASE, empty if unset
  std::string engine;                            ///< $TFAOT_ENGINE, empty if unset
  std::map<std::string, std::string> variables;  ///< all variables, as scram would see them
  Path working_directory;                        ///< absolute
  Path program;              ///< the tool's executable, absolute, links resolved
  std::string architecture;  ///< of the machine, "x86_64"
  std::string user;          ///< who runs the program: the name, else the number
  std::string host;          ///< the machine's name
  unsigned cores = 1;        ///< cores that this process may use
  std::uint64_t memory = 0;  ///< of the machine or container, in bytes; 0: unknown

  /// The value of an environment variable; empty if it is not set.
  std::string variable(const std::string& name) const;
};

/// What the user allows the engine; 0: anything.
struct EngineLimits {
  std::optional<std::uint64_t>
      memory{};  ///< of all processes together; empty: half of the machine's
  std::optional<std::chrono::seconds> time{};  ///< for a question about a model; empty: 600 s
};

/// Files, the receiver of messages, and the environment. REQUIRES: all three outlive the workflow.
struct Context {
  FileSystem& files;
  Diagnostics& diagnostics;
  const Environment& environment;
  EngineLimits limits{};

  /// The same with another receiver of messages. REQUIRES: it outlives the result.
  Context telling(Diagnostics& other) const { return {files, other, environment, limits}; }

  /// The absolute, normal form of a path that the user wrote; without a trailing slash.
  Path absolute(const Path& path) const;
};

/// "$CMSSW_BASE/rest" if CMSSW_BASE is set and `path` is in it, else `path`.
std::string cmssw_relative(const Environment& environment, const Path& path);

/// Warns if scram could not use a tool file with this base, because it contains spaces.
void warn_of_blanks(Diagnostics& diagnostics, const std::string& tool_base);

}  // namespace tfaot::toolkit
