// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "options/target_flags.h"
#include "text/reports.h"
#include "tfaot/base/text.h"
#include "tfaot/records/names.h"
#include "tfaot/workflow/build_package.h"
#include "tfaot/workflow/named_paths.h"

namespace tfaot::toolkit {
namespace {

// The command line of `tfaot compile`: the options of upstream's cms_tfaot_compile, then ours.

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

constexpr std::uint64_t kMegabyte = 1'000'000;

void add_upstream_options(CLI::App& app, CompileCommand& command) {
  auto* model = app.add_option("MODEL", command.model,
                               "a model to compile without a config: a SavedModel's folder,\nan "
                               "ONNX file or a file with StableHLO; or a config")
                    ->option_text(" ");
  app.add_option("-c,--aot-config", command.config, "the model's config, YAML or JSON")
      ->excludes(model)
      ->option_text("FILE");
  app.add_option("-o,--output-directory", command.output_directory,
                 "where the package tree goes; made if missing,\nother files in it stay")
      ->required()
      ->option_text("DIR (required)");
  app.add_option("--tool-name", command.tool_name,
                 "name of the tool [tfaot-model-NAME, '_' as '-']")
      ->option_text("N");
  app.add_option("--tool-base", command.tool_base,
                 "base folder in the tool file [@TOOL_BASE@; with --dev: DIR,\n"
                 "as $CMSSW_BASE/... if below it]")
      ->option_text("B");
  app.add_flag("--dev", command.dev,
               "make the tool file ready for 'scram setup', print the next steps");
  app.add_option("--additional-flags", command.additional_flags,
                 "--target_triple=T --target_cpu=C --target_features=+A,+B")
      ->option_text("FLAGS");
}

// For the CMake functions and scram's hook.
void add_hidden_options(CLI::App& app, CompileCommand& command) {
  app.add_option("--expect-name", command.expect_name)->group("");
  app.add_option("--expect-namespace", command.expect_namespace)->group("");
  app.add_option("--expect-version", command.expect_version)->group("");
  app.add_option("--model-name", command.model_name)->group("");
  app.add_option("--model-version", command.model_version)->group("");
  app.add_option("--place", command.place)->group("");
  app.add_option("--object-list", command.object_list)->group("");
  app.add_option("--make", command.make)->group("");  // only seen by make
}

void add_config_options(CLI::App& app, CompileCommand& command) {
  const char* group = "Instead of values in the config";
  app.add_option("--batch-sizes", command.batch_sizes,
                 "compile for these numbers of rows [without a config: 1]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("1,2,4")
      ->group(group);
  app.add_option("--namespace", command.namespace_name, "namespace of the model's C++ class")
      ->option_text("NS")
      ->group(group);
  app.add_option("--cpu-levels", command.cpu_levels, "such as x86-64,x86-64-v3")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B")
      ->group(group);
  app.add_option("--target-triple", command.target_triple, "such as x86_64-unknown-linux-gnu")
      ->option_text("T")
      ->group(group);
  add_word_option<WeightsMode>(app, "--weights", command.weights,
                               "shared: stored once; embedded: in every object")
      ->group(group);
  add_word_option<WeightsType>(app, "--weights-type", command.weights_type,
                               "of products: fewer bits, less accurate")
      ->group(group);
  add_word_option<Optimization>(app, "--optimize", command.optimize,
                                "size: less memory for weights, slower")
      ->group(group);
  add_word_option<HeadersMode>(app, "--headers", command.headers,
                               "cmssw: for PhysicsTools/TensorFlowAOT inside CMSSW")
      ->group(group);
  for (CLI::Option* const option :
       add_model_modes(app, command.rows, command.batch, command.opset)) {
    option->group(group);
  }
  add_dimensions(app, command.dimensions)->group(group);
}

void add_run_options(CLI::App& app, CompileCommand& command) {
  const char* group = "The run";
  add_engine_options(app, command.engine, group);
  auto* cache =
      app.add_option("--cache", command.cache,
                     "folder that keeps compiled code for later runs\n[$TFAOT_CACHE, else "
                     "~/.cache/tfaot/code]")
          ->option_text("DIR")
          ->group(group);
  app.add_flag("--no-cache", command.no_cache, "compile everything again, keep nothing")
      ->excludes(cache)
      ->group(group)
      ->option_text(" ");
  app.add_option("--cache-limit", command.cache_limit, "size of the cache in megabytes [1000]")
      ->option_text("MB")
      ->group(group);
  app.add_option("--depfile", command.depfile,
                 "write a file for make and Ninja: DIR/manifest.json\ndepends on every file read")
      ->option_text("FILE")
      ->group(group);
}

Status exclusive(const char* option, bool said, bool said_in_flags) {
  if (!said || !said_in_flags) return {};
  return fail(
      Error::usage(fmt::format("compile: {} and --additional-flags set the same value", option)));
}

// The values on the command line that replace those in the config.
Result<ConfigOverrides> config_overrides(const CompileCommand& command) {
  TFAOT_ASSIGN(TargetFlags flags, parse_target_flags(command.additional_flags));
  TFAOT_TRY(
      exclusive("--target-triple", !command.target_triple.empty(), !flags.target_triple.empty()));
  TFAOT_TRY(exclusive("--cpu-levels", !command.cpu_levels.empty(), !flags.cpu_levels.empty()));
  ConfigOverrides overrides;
  overrides.name = command.model_name;
  overrides.version = command.model_version;
  overrides.batch_sizes = command.batch_sizes;
  overrides.namespace_name = command.namespace_name;
  overrides.cpu_levels = flags.cpu_levels.empty() ? command.cpu_levels : flags.cpu_levels;
  overrides.target_triple =
      flags.target_triple.empty() ? command.target_triple : flags.target_triple;
  overrides.weights = command.weights;
  overrides.weights_type = command.weights_type;
  overrides.optimize = command.optimize;
  overrides.headers = command.headers;
  overrides.rows = command.rows;
  overrides.batch = command.batch;
  overrides.opset = command.opset;
  overrides.dimensions = command.dimensions;
  return overrides;
}

Result<CodeCacheOptions> cache_options(const CompileCommand& command, const Context& context) {
  CodeCacheOptions options;
  if (!command.no_cache) {
    TFAOT_ASSIGN(options, code_cache(context, command.cache));
  }
  options.limit = command.cache_limit * kMegabyte;
  return options;
}

// "FILE:LINE"
Location location_of(const std::string& place) {
  const std::size_t colon = place.rfind(':');
  Location location{place.substr(0, colon)};
  if (colon != std::string::npos) {
    location.line = parse_number<int>(place.substr(colon + 1)).value_or(0);
  }
  return location;
}

// `command` must live until parsing is done.
void add_compile_options(CLI::App& app, CompileCommand& command) {
  add_upstream_options(app, command);
  command.json.add_to(app);
  command.verbosity.add_to(app);
  add_hidden_options(app, command);
  add_config_options(app, command);
  add_run_options(app, command);
  app.footer(
      "A model without a config is named after its file or folder and has version 0. A failed or\n"
      "interrupted compilation leaves DIR as it was.\n"
      "Examples:\n"
      "  tfaot compile net.onnx -o out --batch-sizes 1,16 --dimension n_tracks=50\n"
      "  tfaot compile -c aot_config.yaml -o build/tagger\n"
      "  tfaot compile -c aot_config.yaml -o $CMSSW_BASE/tfaot/tagger --dev\n"
      "  tfaot compile -c aot_config.yaml -o out --additional-flags \"--target_cpu=x86-64-v3\"");
}

// What the command line asks for. Usage error: an option is given twice in different forms, or an
// output cannot be written to its place.
Result<BuildRequest> build_request(const CompileCommand& command, const Context& context) {
  const auto place = [&context](const std::string& path) {
    return path.empty() ? Path() : context.absolute(path);
  };
  BuildRequest request;
  TFAOT_ASSIGN(request.overrides, config_overrides(command));
  if (command.model.empty() && command.config.empty()) {
    return fail(Error::usage("compile: a model or its config (-c FILE) is missing")
                    .note("'tfaot init MODEL' writes a config"));
  }
  request.config = place(command.config);
  request.model = place(command.model);
  request.output_directory = context.absolute(command.output_directory);
  TFAOT_TRY(check_output_folder(context.files, "--output-directory", request.output_directory));
  request.depfile = place(command.depfile);
  TFAOT_TRY(check_output_file(context.files, "--depfile", request.depfile));
  request.object_list = place(command.object_list);
  request.tool_name = command.tool_name;
  request.tool_base = command.tool_base.empty() && command.dev
                          ? cmssw_relative(context.environment, request.output_directory)
                          : command.tool_base;
  request.engine = command.engine;
  TFAOT_ASSIGN(request.cache, cache_options(command, context));
  request.expected_name = command.expect_name;
  request.expected_namespace = command.expect_namespace;
  request.expected_version = command.expect_version;
  request.place = location_of(command.place);
  return request;
}

NextSteps next_steps(const Manifest& manifest, const Context& context, const Path& output) {
  const auto tool_file = [&](const std::string& name) {
    return cmssw_relative(context.environment, output / (name + ".xml"));
  };
  return {manifest.name,
          manifest.cpp_class,
          manifest.tool_name,
          tool_file(manifest.tool_name),
          tool_file(std::string(kRuntimeToolName)),
          manifest.headers == HeadersMode::kCmssw,
          cmssw_relative(context.environment, output).starts_with('$'),
          manifest.batch_sizes};
}

Status compile(const CompileCommand& command, Program& program) {
  TFAOT_ASSIGN(const BuildRequest request, build_request(command, program));
  TFAOT_ASSIGN(const ModelTree made, build_package(program, request));
  const Path& output = request.output_directory;
  command.json.show(program.console, compiled_json(made, output),
                    command.dev ? next_steps_text(next_steps(made.manifest, program, output))
                                : compiled_text(made, output));
  return {};
}

}  // namespace

Action add_compile(CLI::App& app) {
  auto command = std::make_shared<CompileCommand>();
  add_compile_options(app, *command);
  return [command](Program& program) -> Status {
    command->verbosity.apply(program.console);
    return compile(*command, program);
  };
}

}  // namespace tfaot::toolkit
