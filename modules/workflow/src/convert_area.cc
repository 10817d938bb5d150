// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/convert_area.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "output_checks.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/text.h"
#include "tfaot/convert/convert.h"
#include "tfaot/records/cpp_names.h"
#include "tfaot/records/names.h"
#include "tfaot/scram/tool_file.h"
#include "tfaot/workflow/model_tree.h"
#include "tfaot/workflow/named_paths.h"
#include "tfaot/workflow/tool_layout.h"
#include "tfaot/workflow/work_folder.h"

namespace tfaot::toolkit {
namespace {

Result<UpstreamModel> choose_model(const ConvertRequest& request, const Context& context) {
  const Path& area = request.area;
  TFAOT_ASSIGN(const std::vector<UpstreamModel> models, find_upstream_models(context.files, area));
  std::vector<std::string> names;
  for (const UpstreamModel& model : models) {
    if (model.name == request.model || (request.model.empty() && models.size() == 1)) return model;
    names.push_back(model.name);
  }
  if (names.empty()) {
    return fail(wrong_input(context.files, area,
                            {"'tfaot convert-area' takes a folder with NAME_bsN.h and NAME_bsN.o",
                             "'cms_tfaot_compile' or 'tfcompile' makes one from a model"}));
  }
  const std::string all = "models there: " + join(names, ", ");
  if (request.model.empty()) {
    return fail(Error::usage("convert-area: there are several models")
                    .note(all)
                    .note("name one with --model"));
  }
  return fail(
      Error::at({area.string()}, fmt::format("there is no model '{}'", request.model)).note(all));
}

// The area's tool file that links the model's objects, if there is one.
Result<std::optional<ToolHeading>> find_tool_file(const Context& context, const Path& area,
                                                  const UpstreamModel& model) {
  const std::string object = model.programs.front().object.filename().string();
  TFAOT_ASSIGN(const std::vector<std::string> names, list_files_recursively(context.files, area));
  for (const std::string& name : names) {
    if (Path(name).extension() != ".xml") continue;
    const auto text = read_limited(context.files, area / name, kToolFileLimit);
    if (!text) continue;  // no tool file is that large
    const Result<ToolHeading> heading = read_tool_heading(*text);
    if (heading && std::count(heading->objects.begin(), heading->objects.end(), object) > 0) {
      return std::optional(*heading);
    }
  }
  return std::optional<ToolHeading>();
}

Result<ModelSpec> make_spec(const ConvertRequest& request, const UpstreamModel& model,
                            const std::optional<ToolHeading>& tool) {
  const Path& area = request.area;
  ModelSpec spec;
  spec.config_file = area;
  spec.model.name = model.name;
  spec.model.version = request.version.empty() && tool ? tool->version : request.version;
  if (!is_cpp_identifier(model.name)) {
    return fail(Error::at(
        {area.string()}, fmt::format("the model's name '{}' is not a C++ identifier", model.name)));
  }
  if (spec.model.version.empty()) {
    return fail(Error::usage("convert-area: the area does not say the model's version")
                    .note("no tool file contains it; give it with --version"));
  }
  if (const std::string allowed = version_rule(spec.model.version); !allowed.empty()) {
    return fail(Error::at({area.string()},
                          fmt::format("the tool file's version is '{}'", spec.model.version))
                    .note("allowed: " + allowed)
                    .note("give another one with --version"));
  }
  return spec;
}

Status complete_spec(const ConvertedModel& converted, const Path& area, ModelSpec& spec) {
  const CompiledModel& compiled = converted.compiled;
  if (converted.namespace_name.empty()) {
    return fail(Error::at({area.string()}, "the model's class is not in a namespace")
                    .note("compile the model again: tfaot compile"));
  }
  spec.compilation.namespace_name = converted.namespace_name;
  spec.compilation.batch_sizes = compiled.batch_sizes;
  spec.compilation.cpu_levels = compiled.cpu_levels;
  spec.compilation.target_triple = compiled.target_triple;
  spec.compilation.weights =
      compiled.weights_object.empty() ? WeightsMode::kEmbedded : WeightsMode::kShared;
  return {};
}

void warn(Diagnostics& diagnostics, const ConvertedModel& converted) {
  for (const WholeObject& whole : converted.whole) {
    diagnostics.warning(fmt::format("{} keeps its weights: {}", whole.object, whole.reason));
  }
  for (const std::string& remark : converted.remarks) diagnostics.warning(remark);
}

}  // namespace

Result<ConvertedPackage> convert_area(Context& context, const ConvertRequest& request) {
  const Path& area = request.area;
  const Path& output = request.output_directory;
  if (!is_folder(context.files, area)) {
    return fail(wrong_input(context.files, area,
                            {"'tfaot convert-area' takes the folder that upstream's generator "
                             "wrote",
                             ""}));
  }
  TFAOT_ASSIGN(const UpstreamModel model, choose_model(request, context));
  TFAOT_ASSIGN(const std::optional<ToolHeading> tool, find_tool_file(context, area, model));
  TFAOT_ASSIGN(ModelSpec spec, make_spec(request, model, tool));
  TFAOT_TRY(check_new_tree(context.files, output, spec.model));
  TFAOT_ASSIGN(const WorkFolder work, WorkFolder::create(context, output));
  TFAOT_ASSIGN(
      ConvertedModel converted,
      convert_model(context.files, model, {work.path(), request.cpu_level, request.share_weights}));
  TFAOT_TRY(complete_spec(converted, area, spec));
  spec.compilation.headers = request.headers;

  ModelTreeOptions tree;
  tree.output_directory = output;
  TFAOT_ASSIGN(tree.runtime, runtime_files(context, processor_of(spec.compilation.target_triple)));
  tree.generate.tool_name = request.tool_name.empty() && tool ? tool->name : request.tool_name;
  if (!request.tool_base.empty()) tree.generate.tool_base = request.tool_base;
  warn_of_blanks(context.diagnostics, tree.generate.tool_base);
  TFAOT_ASSIGN(Manifest manifest, write_model_tree(context, spec, converted.compiled,
                                                   {work.path(), work.path()}, tree));
  warn(context.diagnostics, converted);
  return ConvertedPackage{std::move(manifest), std::move(converted)};
}

}  // namespace tfaot::toolkit
