// SPDX-License-Identifier: Apache-2.0
#include "command_convert_area.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "model_tree.h"
#include "output_checks.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/text.h"
#include "tfaot/convert/convert.h"
#include "tfaot/generate/generate.h"
#include "tfaot/generate/tool_file_xml.h"
#include "tfaot/records/cpu_levels.h"
#include "tfaot/records/names.h"
#include "tool_layout.h"
#include "version_option.h"
#include "word_option.h"
#include "work_folder.h"
#include "wrong_input.h"

namespace tfaot::toolkit {
namespace {

struct Options {
  VerbosityOption verbosity;
  std::string area;
  std::string output_directory;
  std::string model;
  std::string version;
  std::string tool_name;
  std::string tool_base;
  std::string cpu_level;
  HeadersMode headers = HeadersMode::kSelfContained;
  bool whole = false;
};

Result<UpstreamModel> choose_model(const Options& options, const Context& context,
                                   const Path& area) {
  TFAOT_ASSIGN(const std::vector<UpstreamModel> models, find_upstream_models(context.files, area));
  std::vector<std::string> names;
  for (const UpstreamModel& model : models) {
    if (model.name == options.model || (options.model.empty() && models.size() == 1)) return model;
    names.push_back(model.name);
  }
  if (names.empty()) {
    return fail(wrong_input(context.files, area,
                            {"'tfaot convert-area' takes a folder with NAME_bsN.h and NAME_bsN.o",
                             "'cms_tfaot_compile' or 'tfcompile' makes one of a model"}));
  }
  const std::string all = "models there: " + join(names, ", ");
  if (options.model.empty()) {
    return fail(Error::usage("convert-area: there are several models")
                    .note(all)
                    .note("name one by --model"));
  }
  return fail(
      Error::at({area.string()}, fmt::format("there is no model '{}'", options.model)).note(all));
}

// The area's tool file that links the model's objects, if there is one.
Result<std::optional<ToolHeading>> find_tool_file(const Context& context, const Path& area,
                                                  const UpstreamModel& model) {
  const std::string object = model.programs.front().object.filename().string();
  TFAOT_ASSIGN(const std::vector<std::string> names, list_files_recursively(context.files, area));
  for (const std::string& name : names) {
    if (Path(name).extension() != ".xml") continue;
    const auto text = read_limited(context.files, area / name, kToolFileLimit);
    if (!text) continue;  // no tool file is as large
    const Result<ToolHeading> heading = read_tool_heading(*text);
    if (heading && std::count(heading->objects.begin(), heading->objects.end(), object) > 0) {
      return std::optional(*heading);
    }
  }
  return std::optional<ToolHeading>();
}

Result<ModelSpec> make_spec(const Options& options, const Path& area, const UpstreamModel& model,
                            const std::optional<ToolHeading>& tool) {
  ModelSpec spec;
  spec.config_file = area;
  spec.model.name = model.name;
  spec.model.version = options.version.empty() && tool ? tool->version : options.version;
  if (!is_cpp_identifier(model.name)) {
    return fail(Error::at({area.string()},
                          fmt::format("the model's name '{}' is no C++ identifier", model.name)));
  }
  if (spec.model.version.empty()) {
    return fail(Error::usage("convert-area: the area does not tell the model's version")
                    .note("there is no tool file with it; give it by --version"));
  }
  if (const std::string allowed = check_version(spec.model.version); !allowed.empty()) {
    return fail(Error::at({area.string()},
                          fmt::format("the tool file's version is '{}'", spec.model.version))
                    .note("allowed: " + allowed)
                    .note("give another one by --version"));
  }
  return spec;
}

Status complete_spec(const ConvertedModel& converted, const Path& area, ModelSpec& spec) {
  const CompiledModel& compiled = converted.compiled;
  if (converted.namespace_name.empty()) {
    return fail(Error::at({area.string()}, "the model's class is in no namespace")
                    .note("compile the model anew: tfaot compile"));
  }
  spec.compilation.namespace_name = converted.namespace_name;
  spec.compilation.batch_sizes = compiled.batch_sizes;
  spec.compilation.cpu_levels = compiled.cpu_levels;
  spec.compilation.target_triple = compiled.target_triple;
  spec.compilation.weights =
      compiled.weights_object.empty() ? WeightsMode::kEmbedded : WeightsMode::kShared;
  return {};
}

std::string describe_sizes(const ConvertedModel& converted, bool whole) {
  if (converted.constants == 0) {
    return fmt::format("objects: {} bytes, {}", converted.bytes_after,
                       whole ? "as they were" : "with no weights that can be shared");
  }
  return fmt::format("objects: {} bytes before, {} after; {} blocks of weights, stored as {}",
                     converted.bytes_before, converted.bytes_after, converted.constants,
                     converted.distinct_constants);
}

void report(Context& context, const ConvertedModel& converted, const Manifest& manifest,
            const Options& options) {
  for (const WholeObject& whole : converted.whole) {
    context.console.warning(fmt::format("{} keeps its weights: {}", whole.object, whole.reason));
  }
  for (const std::string& remark : converted.remarks) context.console.warning(remark);
  std::string alone;
  for (const LoneConstants& block : converted.alone) {
    alone += fmt::format("{} has {} bytes of its own, like no other object's\n", block.object,
                         block.size);
  }
  context.console.report(fmt::format("converted model '{}' for batch sizes {} into {}\n{}\n{}",
                                     manifest.name, fmt::join(manifest.batch_sizes, ","),
                                     context.absolute(options.output_directory).string(),
                                     describe_sizes(converted, options.whole), alone));
}

Status convert(const Options& options, Context& context) {
  const Path area = context.absolute(options.area);
  const Path output = context.absolute(options.output_directory);
  if (!is_folder(context.files, area)) {
    return fail(wrong_input(context.files, area,
                            {"'tfaot convert-area' takes the folder that upstream's generator "
                             "wrote",
                             ""}));
  }
  TFAOT_TRY(check_output_folder(context.files, "--output-directory", output));
  TFAOT_ASSIGN(const UpstreamModel model, choose_model(options, context, area));
  TFAOT_ASSIGN(const std::optional<ToolHeading> tool, find_tool_file(context, area, model));
  TFAOT_ASSIGN(ModelSpec spec, make_spec(options, area, model, tool));
  TFAOT_TRY(check_new_tree(context.files, output, spec.model));
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, output));
  TFAOT_ASSIGN(
      const ConvertedModel converted,
      convert_model(context.files, model, {work.path(), options.cpu_level, !options.whole}));
  TFAOT_TRY(complete_spec(converted, area, spec));
  spec.compilation.headers = options.headers;

  ModelTreeOptions tree;
  tree.output_directory = output;
  TFAOT_ASSIGN(tree.runtime, runtime_files(context, processor_of(spec.compilation.target_triple),
                                           spec.compilation.headers));
  tree.generate.tool_name = options.tool_name.empty() && tool ? tool->name : options.tool_name;
  if (!options.tool_base.empty()) tree.generate.tool_base = options.tool_base;
  warn_of_blanks(context.console, tree.generate.tool_base);
  TFAOT_ASSIGN(const Manifest manifest, write_model_tree(context, spec, converted.compiled,
                                                         {work.path(), work.path()}, tree));
  report(context, converted, manifest, options);
  return {};
}

}  // namespace

Action add_convert_area(CLI::App& app) {
  auto options = std::make_shared<Options>();
  app.add_option("AREA", options->area,
                 "the folder with NAME_bsN.h, NAME_bsN.o and, perhaps, a tool file")
      ->required()
      ->option_text(" ");
  app.add_option("-o,--output-directory", options->output_directory,
                 "folder of the package tree; made when missing")
      ->required()
      ->option_text("DIR (required)");
  app.add_option("--model", options->model, "NAME, where the area holds several models")
      ->option_text("NAME");
  app.add_option("--version", options->version, "version of the package [the tool file's]")
      ->check(check_version)
      ->option_text("V");
  app.add_option("--tool-name", options->tool_name,
                 "name of the tool [the tool file's, else tfaot-model-NAME]")
      ->option_text("NAME");
  app.add_option("--tool-base", options->tool_base,
                 "the tool file's base folder, such as $CMSSW_BASE/...\n[@TOOL_BASE@]")
      ->option_text("BASE");
  app.add_option(
         "--cpu-level", options->cpu_level,
         "what the objects were compiled for, by --target_cpu or\nso [any CPU of their machine]")
      ->option_text("LEVEL");
  add_word_option<HeadersMode>(
      app, "--headers", options->headers,
      "cmssw: for PhysicsTools/TensorFlowAOT inside CMSSW\n[self_contained]");
  app.add_flag("--whole", options->whole, "leave the weights in every object");
  options->verbosity.add_to(app);
  app.footer(
      "Nothing is compiled. Weights that are equal in several objects are stored once; an object "
      "that\n"
      "cannot share its own keeps them, and is named. AREA stays as it is.\n"
      "Examples:\n"
      "  tfaot convert-area upstream_out -o build/tagger\n"
      "  tfaot convert-area upstream_out/aot -o build/tagger --version 1.0.0");
  return [options](Context& context) {
    options->verbosity.apply(context.console);
    return convert(*options, context);
  };
}

}  // namespace tfaot::toolkit
