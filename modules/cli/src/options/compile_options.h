// SPDX-License-Identifier: Apache-2.0
// The command line of `tfaot compile`: the options of upstream's cms_tfaot_compile, then ours.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options/shared_options.h"
#include "tfaot/workflow/build_package.h"

namespace tfaot::toolkit {

// Empty or 0: not given, unless a default is set here.
struct CompileCommand {
  VerbosityOption verbosity;
  JsonOption json;
  std::string model;  // or a config
  std::string config;
  std::string output_directory;
  std::string tool_name;
  std::string tool_base;
  bool dev = false;
  std::string additional_flags;

  std::vector<std::string> batch_sizes;
  std::string namespace_name;
  std::vector<std::string> cpu_levels;
  std::string target_triple;
  std::optional<WeightsMode> weights;
  std::optional<WeightsType> weights_type;
  std::optional<Optimization> optimize;
  std::optional<HeadersMode> headers;
  std::optional<RowsMode> rows;
  std::optional<BatchMode> batch;
  std::optional<OpsetMode> opset;
  std::vector<std::string> dimensions;
  EngineRun engine;
  bool no_cache = false;
  std::string cache;
  std::uint64_t cache_limit = 1000;  // megabytes
  std::string depfile;

  // Hidden, for the CMake functions and scram's hook.
  std::string expect_name;
  std::string expect_namespace;
  std::string expect_version;
  std::string model_name;  // of a model without a config, as its version
  std::string model_version;
  std::string place;        // FILE:LINE, where the user wrote what the options say
  std::string object_list;  // a response file of all objects is written there
  std::string make;
};

// `command` must live until parsing is done.
void add_compile_options(CLI::App& app, CompileCommand& command);

// What the command line asks for. Usage error: an option is given twice in different forms, or an
// output cannot be written to its place.
Result<BuildRequest> build_request(const CompileCommand& command, const Context& context);

}  // namespace tfaot::toolkit
