// SPDX-License-Identifier: Apache-2.0
// The options of `tfaot profile`, and the request they make.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options/html_option.h"
#include "options/shared_options.h"
#include "tfaot/base/result.h"
#include "tfaot/cli/run_program.h"
#include "tfaot/workflow/draw_profile.h"
#include "tfaot/workflow/profile_models.h"

namespace tfaot::toolkit {

struct ProfileCommand {
  std::vector<std::string> packages;
  std::string study;
  std::vector<std::int64_t> rows;
  std::vector<std::string> cpu_levels;
  std::vector<std::string> strategies;
  std::vector<std::string> batch_rules;
  std::string inputs = "random";
  std::optional<std::uint64_t> seed;
  std::vector<std::string> peers;      // "ENGINE=MODEL"
  std::vector<std::string> libraries;  // "ENGINE=FILE"
  std::vector<std::string> dimensions;
  std::int64_t rounds = 31;
  double round_ms = 10;
  ProfileClock clock = ProfileClock::kWall;
  std::optional<std::int64_t> core;
  std::string machine;
  bool operations = false;
  std::optional<HeapTool> heap_tool;
  bool allow_large = false;
  EngineRun engine;
  bool json = false;
  std::string output;
  std::string csv;
  std::vector<std::string> plots;
  PlotRequest plot;  // of all of them, without the file
  HtmlOption html;
  VerbosityOption verbosity;
};

void add_profile_options(CLI::App& app, ProfileCommand& command);

// What a study does not say itself: machine, core, rounds, engine, cache, heap.
// Usage error if a value is wrong.
Result<ProfileRequest> common_request(const ProfileCommand& command, const Program& program);

// Usage error if one is given that the study's file says.
Status check_study_options(const CLI::App& app);

// Usage error if options contradict each other, or a file that is named does not exist.
Result<ProfileRequest> profile_request(const ProfileCommand& command, const Program& program);

// Inputs by a word or a file, for `verb`'s --inputs.
Result<InputSource> named_inputs(const std::string& verb, const std::string& inputs,
                                 const Program& program);
// "onnxruntime=net.onnx" with "onnxruntime=libonnxruntime.so" among `libraries`.
Result<PeerModel> named_peer(const std::string& peer_text,
                             const std::vector<std::string>& libraries, const Program& program);

}  // namespace tfaot::toolkit
