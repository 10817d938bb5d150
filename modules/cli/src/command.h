// SPDX-License-Identifier: Apache-2.0
// What a verb is to the command table. Each command_<verb>.h declares one function of the type
// Command::add.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "context.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// Runs a verb with the options that were parsed into it.
using Action = std::function<Status(Context&)>;

struct Command {
  std::string name;
  std::string summary;
  Action (*add)(CLI::App& app);  // declares options, examples in the footer
};

// -q/--quiet and -v/--verbose; apply it before anything is shown.
struct VerbosityOption {
  bool quiet = false;
  bool verbose = false;

  void add_to(CLI::App& app);
  void apply(Console& console) const;
};

}  // namespace tfaot::toolkit
