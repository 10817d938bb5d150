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
#include "pages/pages.h"
#include "tfaot/base/memory_budget.h"
#include "tfaot/base/text.h"
#include "tfaot/records/names.h"
#include "tfaot/workflow/build_package.h"
#include "tfaot/workflow/named_paths.h"

namespace tfaot::toolkit {
namespace {

// The command line of `tfaot compile`: the options of upstream's cms_tfaot_compile, then ours.

// Empty or 0: not given, unless a default is set here.
struct CompileCommand {
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

void add_upstream_options(CLI::App& app, CompileCommand& command) {
  auto* model = add_value(app, "MODEL", command.model,
                          "a model to compile without a config: a SavedModel's folder,\nan "
                          "ONNX file or a file with StableHLO; or a config");
  add_value(app, "-c,--aot-config FILE", command.config, "the model's config, YAML or JSON")
      ->excludes(model);
  add_value(app, "-o,--output-directory DIR (required)", command.output_directory,
            "where the package tree goes; made if missing,\nother files in it stay");
  add_value(app, "--tool-name N", command.tool_name,
            "name of the tool [tfaot-model-NAME, '_' as '-']");
  add_value(app, "--tool-base B", command.tool_base,
            "base folder in the tool file [@TOOL_BASE@; with --dev: DIR,\n"
            "as $CMSSW_BASE/... if below it]");
  app.add_flag("--dev", command.dev,
               "make the tool file ready for 'scram setup', print the next steps");
  add_value(app, "--additional-flags FLAGS", command.additional_flags,
            "--target_triple=T --target_cpu=C --target_features=+A,+B");
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
  add_list(app, "--batch-sizes 1,2,4", command.batch_sizes,
           "compile for these numbers of rows [without a config: 1]")
      ->group(group);
  add_value(app, "--namespace NS", command.namespace_name, "namespace of the model's C++ class")
      ->group(group);
  add_list(app, "--cpu-levels A,B", command.cpu_levels, "such as x86-64,x86-64-v3")->group(group);
  add_value(app, "--target-triple T", command.target_triple, "such as x86_64-unknown-linux-gnu")
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
  auto* cache = add_value(app, "--cache DIR", command.cache,
                          "folder that keeps compiled code for later runs\n[$TFAOT_CACHE, else "
                          "~/.cache/tfaot/code]")
                    ->group(group);
  app.add_flag("--no-cache", command.no_cache, "compile everything again, keep nothing")
      ->excludes(cache)
      ->group(group)
      ->option_text(" ");
  add_value(app, "--cache-limit MB", command.cache_limit, "size of the cache in megabytes [1000]")
      ->group(group);
  add_value(app, "--depfile FILE", command.depfile,
            "write a file for make and Ninja: DIR/manifest.json\ndepends on every file read")
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

// `--dev`: the way from the package tree to a plugin in scram.
struct NextSteps {
  std::string model_name;
  std::string cpp_class;  // with its namespace
  std::string tool_name;
  std::string tool_file;  // as the user should write it
  std::string runtime_tool_file;
  bool uses_cmssw = false;   // PhysicsTools/TensorFlowAOT
  bool is_in_cmssw = false;  // the tree is below CMSSW_BASE
  std::vector<std::int64_t> batch_sizes;
};

constexpr const char* kHint = R"(
  Does your code include PhysicsTools/TensorFlowAOT/interface/*.h of CMSSW? Then compile
  the model with --headers cmssw.
)";

constexpr const char* kOutside =
    R"(     The second again after each compilation: the folder is outside of CMSSW_BASE, where scram does
     not notice that the model changed.
)";

std::string next_steps_text(const NextSteps& steps) {
  return fmt::format(R"(
{:-<80}

successfully AOT compiled model '{}' for batch sizes: {}

  1. register it and its runtime to scram:
     > scram setup {}
     > scram setup {}
{}
  2. 'use' the tool at the top of your BuildFile.xml:
{}     <use name="{}"/>

  3. include the following header in your code:
     #include "{}/model.h"

  4. create an AOT model instance via:
     auto model = tfaot::Model<{}>();
{}
)",
                     "", steps.model_name, fmt::join(steps.batch_sizes, ","),
                     shell_quoted(steps.runtime_tool_file), shell_quoted(steps.tool_file),
                     steps.is_in_cmssw ? "" : kOutside,
                     steps.uses_cmssw ? "     <use name=\"PhysicsTools/TensorFlowAOT\"/>\n" : "",
                     steps.tool_name, steps.tool_name, steps.cpp_class,
                     steps.is_in_cmssw && !steps.uses_cmssw ? kHint : "");
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

std::string compiled_text(const ModelTree& made, const Path& output) {
  const Manifest& manifest = made.manifest;
  return fmt::format(
      "compiled model '{}' for batch sizes {} and CPU levels {} into {}\n{}{}\n", manifest.name,
      fmt::join(manifest.batch_sizes, ","), join(manifest.cpu_levels, ","), output.string(),
      counted(made.objects, "object"),
      made.cached_objects == 0 ? "" : fmt::format(", {} from the cache", made.cached_objects));
}

nlohmann::ordered_json compiled_json(const ModelTree& made, const Path& output) {
  nlohmann::ordered_json json = made_json("tree", output, made.manifest);
  json["cpp_class"] = made.manifest.cpp_class;
  json["batch_sizes"] = made.manifest.batch_sizes;
  json["cpu_levels"] = made.manifest.cpu_levels;
  json["objects"] = made.objects;
  json["cached_objects"] = made.cached_objects;
  return json;
}

Status compile(const CompileCommand& command, Program& program) {
  TFAOT_ASSIGN(const BuildRequest request, build_request(command, program));
  TFAOT_ASSIGN(const ModelTree made, build_package(program, request));
  const Path& output = request.output_directory;
  show_done(program, compiled_json(made, output),
            command.dev ? next_steps_text(next_steps(made.manifest, program, output))
                        : compiled_text(made, output));
  return {};
}

}  // namespace

Action add_compile(CLI::App& app) {
  auto command = std::make_shared<CompileCommand>();
  add_compile_options(app, *command);
  return [command](Program& program) { return compile(*command, program); };
}

}  // namespace tfaot::toolkit
