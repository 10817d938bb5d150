// SPDX-License-Identifier: Apache-2.0
// The command line of `tfaot tune`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "options/shared_options.h"
#include "tfaot/workflow/tuned_package.h"

namespace tfaot::toolkit {

// Empty or 0: not given, unless a default is set here.
struct TuneCommand {
  VerbosityOption verbosity;
  JsonOption json;
  std::string path;
  std::string package;
  std::string output;
  double budget_seconds = 10;
  std::string compiler = "c++";
  bool allow_large = false;

  bool suggest = false;
  std::string range;
  std::vector<std::string> rows;
  std::uint64_t max_bytes = 0;
  std::size_t max_sizes = 0;
  std::vector<std::size_t> candidates;
  std::string cpu_level;
};

// `command` must live until parsing is done.
void add_tune_options(CLI::App& app, TuneCommand& command);

// The package as the user wrote it.
const std::string& name_of(const TuneCommand& command);

// Error: options that cannot be used together, or a missing one.
Status check_tune_command(const TuneCommand& command);

Result<SuggestOptions> suggest_options(const TuneCommand& command);

}  // namespace tfaot::toolkit
