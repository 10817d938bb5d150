// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
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

// The request as the options give it; paths are as the user wrote them.
struct CompileCommand {
  BuildRequest request;
  bool dev = false;
  std::string additional_flags;
  bool no_cache = false;
  std::string cache;
  std::uint64_t cache_limit = 1000;  // megabytes
  std::string place;                 // hidden: FILE:LINE, where the user wrote the options
  std::string make;                  // hidden
};

void add_upstream_options(CLI::App& app, CompileCommand& command) {
  BuildRequest& request = command.request;
  auto* model = add_value(app, "MODEL", request.model,
                          "a model to compile without a config: a SavedModel's folder,\nan "
                          "ONNX file or a file with StableHLO; or a config");
  add_value(app, "-c,--aot-config FILE", request.config, "the model's config, YAML or JSON")
      ->excludes(model);
  add_value(app, "-o,--output-directory DIR (required)", request.output_directory,
            "where the package tree goes; made if missing,\nother files in it stay");
  add_value(app, "--tool-name N", request.tool_name,
            "name of the tool [tfaot-model-NAME, '_' as '-']");
  add_value(app, "--tool-base B", request.tool_base,
            "base folder in the tool file [@TOOL_BASE@; with --dev: DIR,\n"
            "as $CMSSW_BASE/... if below it]");
  app.add_flag("--dev", command.dev,
               "make the tool file ready for 'scram setup', print the next steps");
  add_value(app, "--additional-flags FLAGS", command.additional_flags,
            "--target_triple=T --target_cpu=C --target_features=+A,+B");
}

// For the CMake functions and scram's hook.
void add_hidden_options(CLI::App& app, CompileCommand& command) {
  BuildRequest& request = command.request;
  app.add_option("--expect-name", request.expected_name)->group("");
  app.add_option("--expect-namespace", request.expected_namespace)->group("");
  app.add_option("--expect-version", request.expected_version)->group("");
  app.add_option("--place", command.place)->group("");
  app.add_option("--object-list", request.object_list)->group("");
  app.add_option("--make", command.make)->group("");  // only seen by make
}

void add_config_options(CLI::App& app, ConfigOverrides& overrides) {
  add_value(app, "--model-name NAME", overrides.name,
            "without a config: the model's name [that of its file\nor folder]");
  add_value(app, "--model-version V", overrides.version,
            "without a config: version of the package [1.0.0]");
  add_list(app, "--batch-sizes 1,2,4", overrides.batch_sizes,
           "compile for these numbers of rows [without a config: 1]");
  add_value(app, "--namespace NS", overrides.namespace_name, "namespace of the model's C++ class");
  add_list(app, "--cpu-levels A,B", overrides.cpu_levels, "such as x86-64,x86-64-v3");
  add_value(app, "--target-triple T", overrides.target_triple, "such as x86_64-unknown-linux-gnu");
  add_word_option<WeightsMode>(app, "--weights", overrides.weights,
                               "shared: stored once; embedded: in every object");
  add_word_option<WeightsType>(app, "--weights-type", overrides.weights_type,
                               "of products: fewer bits, less accurate");
  add_word_option<ComputeType>(app, "--compute", overrides.compute,
                               "bfloat16: faster products, less accurate");
  add_word_option<Optimization>(app, "--optimize", overrides.optimize,
                                "size: less memory for weights, slower");
  add_word_option<HeadersMode>(app, "--headers", overrides.headers,
                               "cmssw: for PhysicsTools/TensorFlowAOT inside CMSSW");
  add_model_modes(app, overrides);
  add_dimensions(app, overrides.dimensions);
}

void add_run_options(CLI::App& app, CompileCommand& command) {
  add_engine_options(app, command.request.engine);
  auto* cache = add_value(app, "--cache DIR", command.cache,
                          "folder that keeps compiled code for later runs\n[$TFAOT_CACHE, else "
                          "~/.cache/tfaot/code]");
  app.add_flag("--no-cache", command.no_cache, "compile everything again, keep nothing")
      ->excludes(cache)
      ->option_text(" ");
  add_value(app, "--cache-limit MB", command.cache_limit, "size of the cache in megabytes [1000]");
  add_value(app, "--depfile FILE", command.request.depfile,
            "write a file for make and Ninja: DIR/manifest.json\ndepends on every file read");
}

Status exclusive(const char* option, bool said, bool said_in_flags) {
  if (!said || !said_in_flags) return {};
  return fail(
      Error::usage(fmt::format("compile: {} and --additional-flags set the same value", option)));
}

// --additional-flags say some of the overrides in upstream's form.
Status add_target_flags(const std::string& text, ConfigOverrides& overrides) {
  TFAOT_ASSIGN(TargetFlags flags, parse_target_flags(text));
  TFAOT_TRY(
      exclusive("--target-triple", !overrides.target_triple.empty(), !flags.target_triple.empty()));
  TFAOT_TRY(exclusive("--cpu-levels", !overrides.cpu_levels.empty(), !flags.cpu_levels.empty()));
  if (!flags.cpu_levels.empty()) overrides.cpu_levels = std::move(flags.cpu_levels);
  if (!flags.target_triple.empty()) overrides.target_triple = std::move(flags.target_triple);
  return {};
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
  in_group(app, "Instead of values in the config",
           [&] { add_config_options(app, command.request.overrides); });
  in_group(app, "The run", [&] { add_run_options(app, command); });
  app.footer(
      R"(Prints what was chosen for a model without a config. A failed or interrupted compilation
leaves DIR as it was.
Examples:
  tfaot compile net.onnx -o out --batch-sizes 1,16 --dimension n_tracks=50
  tfaot compile -c aot_config.yaml -o build/tagger
  tfaot compile -c aot_config.yaml -o $CMSSW_BASE/tfaot/tagger --dev
  tfaot compile -c aot_config.yaml -o out --additional-flags "--target_cpu=x86-64-v3")");
}

// What the command line asks for. Usage error: an option is given twice in different forms, or an
// output cannot be written to its place.
Result<BuildRequest> build_request(const CompileCommand& command, const Context& context) {
  BuildRequest request = command.request;
  TFAOT_TRY(add_target_flags(command.additional_flags, request.overrides));
  if (request.model.empty() && request.config.empty()) {
    return fail(Error::usage("compile: a model or its config (-c FILE) is missing")
                    .note("'tfaot init MODEL' writes a config"));
  }
  const bool has_config =
      request.model.empty() ||
      named_path(context.files, context.absolute(request.model)).kind == PathKind::kConfig;
  if (has_config && !(request.overrides.name + request.overrides.version).empty()) {
    return fail(
        Error::usage("compile: --model-name and --model-version are for a model without a "
                     "config: the config says both"));
  }
  make_absolute(context, {&request.config, &request.model, &request.output_directory,
                          &request.depfile, &request.object_list});
  TFAOT_TRY(check_output_folder(context.files, "--output-directory", request.output_directory));
  TFAOT_TRY(check_output_file(context.files, "--depfile", request.depfile));
  if (request.tool_base.empty() && command.dev) {
    request.tool_base = cmssw_relative(context.environment, request.output_directory);
  }
  TFAOT_ASSIGN(request.cache, cache_options(command, context));
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

std::string tensors_text(const std::vector<TensorSpec>& tensors, const Manifest& manifest) {
  const auto text = [&](const TensorSpec& tensor) {
    return fmt::format("{} {} {}", tensor.name, word_of(tensor.dtype),
                       shape_text(tensor, manifest));
  };
  return join(mapped(tensors, text), "\n");
}

// Of a model without a config: what was chosen for the user, and the next steps. Paths as the user
// wrote them.
std::string chosen_text(const BuildRequest& request, const ModelTree& made) {
  const Manifest& manifest = made.manifest;
  const std::string model = shell_quoted(request.model.string());
  const std::string output = shell_quoted(request.output_directory.string());
  report::Page page;
  page.heading = fmt::format("compiled {} without a config", model);
  page.sections = {
      {report::kOverview,
       {},
       {report::Facts{
            {{"name", fmt::format("{}, the C++ class {}", manifest.name, manifest.cpp_class)},
             {"version", manifest.version},
             {"batch sizes", fmt::format("{}", fmt::join(manifest.batch_sizes, ", "))},
             {"CPU levels", join(manifest.cpu_levels, ", ")},
             {"dimensions", join(request.overrides.dimensions, ", ")},
             {"inputs", tensors_text(manifest.signature.inputs, manifest)},
             {"outputs", tensors_text(manifest.signature.outputs, manifest)},
             {"package", output}}},
        report::Callout{report::Verdict::kNone,
                        "to choose otherwise: --model-name, --model-version, --batch-sizes, "
                        "--cpu-levels; or a config:",
                        {"tfaot init " + model}},
        report::Callout{report::Verdict::kNone,
                        "next:",
                        {fmt::format("tfaot run {} --inputs random", output),
                         fmt::format("tfaot validate {} --model {}", output, model),
                         fmt::format("tfaot package {} -o dist", output)}}}}};
  return report::text_of(page);
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
  const bool has_config = named_path(program.files, request.model).kind != PathKind::kModel;
  show_done(program, compiled_json(made, output),
            command.dev  ? next_steps_text(next_steps(made.manifest, program, output))
            : has_config ? compiled_text(made, output)
                         : chosen_text(command.request, made));
  return {};
}

}  // namespace

Action add_compile(CLI::App& app) {
  auto command = std::make_shared<CompileCommand>();
  add_compile_options(app, *command);
  return [command](Program& program) { return compile(*command, program); };
}

}  // namespace tfaot::toolkit
