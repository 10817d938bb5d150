// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "commands/commands.h"
#include "options/html_option.h"
#include "options/shared_options.h"
#include "pages/config_page.h"
#include "pages/model_page.h"
#include "pages/package_page.h"
#include "text/describe.h"
#include "text/describe_model.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/workflow/inspect.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::ordered_json;

struct InfoArguments {
  std::string path;
  bool json = false;
  HtmlOption html;
  bool identity = false;  // hidden, for the CMake functions: a config's names alone, as JSON
};

// The result of `tfaot info` in both forms.
struct Description {
  std::string kind;
  ordered_json details;
  std::string text;
};

Description of_manifest(const std::string& kind, const Manifest& manifest) {
  const PackageSizes sizes = package_sizes(manifest);
  ordered_json code = ordered_json::array();
  for (const PackageSizes::Object& object : sizes.objects) {
    code.push_back({{"batch_size", object.batch_size},
                    {"cpu_level", object.cpu_level},
                    {"bytes", object.bytes}});
  }
  ordered_json details = {{"code_bytes", sizes.code},
                          {"weights_bytes", sizes.weights},
                          {"model_weights_bytes",
                           sizes.model_weights > 0 ? ordered_json(sizes.model_weights) : nullptr},
                          {"headers_bytes", sizes.headers},
                          {"code", std::move(code)},
                          {"manifest", ordered_json::parse(manifest_to_json(manifest))}};
  return {kind, std::move(details), describe_manifest(manifest)};
}

Description description_of(const Inspected& found) {
  if (const auto* const spec = std::get_if<ModelSpec>(&found.content)) {
    return {"config", spec_to_json(*spec), describe_spec(*spec)};
  }
  if (const auto* const model = std::get_if<ModelDescription>(&found.content)) {
    return {"model", model_to_json(*model), describe_model_text(*model)};
  }
  return of_manifest(found.kind == Inspected::Kind::kArchive ? "archive" : "package tree",
                     std::get<Manifest>(found.content));
}

Status print_identity(const InfoArguments& options, Program& program) {
  TFAOT_ASSIGN(const ModelIdentity model, identify(program, program.absolute(options.path)));
  program.console.print(json_text(
      {{"name", model.name}, {"namespace", model.namespace_name}, {"version", model.version}}));
  return {};
}

Status write_page(const InfoArguments& options, Program& program, const Inspected& inspected,
                  ordered_json json) {
  if (const auto* const spec = std::get_if<ModelSpec>(&inspected.content)) {
    ModelSpec shown = *spec;  // a page does not say where the config is
    shown.model.source = shown.model.written_source;
    json["source"] = shown.model.source.string();
    return options.html.write(program, config_page(shown), json);
  }
  if (const auto* const model = std::get_if<ModelDescription>(&inspected.content)) {
    const std::string name = program.absolute(options.path).filename().string();
    return options.html.write(program, model_page(*model, name), json);
  }
  const std::string kind = json["kind"];
  return options.html.write(program, package_page(std::get<Manifest>(inspected.content), kind),
                            json);
}

Status info(const InfoArguments& options, Program& program) {
  if (options.identity) return print_identity(options, program);
  TFAOT_TRY(options.html.check(program));
  TFAOT_ASSIGN(const Inspected inspected, inspect(program, program.absolute(options.path)));
  const Description found = description_of(inspected);
  ordered_json json = {{"kind", found.kind}};
  json.update(found.details);
  if (options.html.given()) TFAOT_TRY(write_page(options, program, inspected, json));
  if (options.json) {
    program.console.print(json_text(json));
  } else {
    program.console.print(fmt::format("{} {}\n{}", found.kind, options.path, found.text));
  }
  return {};
}

}  // namespace

Action add_info(CLI::App& app) {
  auto options = std::make_shared<InfoArguments>();
  app.add_option("PATH", options->path,
                 "a package tree, an archive, AREA/NAME[/VERSION] of an\ninstalled model, a config "
                 "file or a model")
      ->required()
      ->option_text(" ");
  app.add_flag("--json", options->json, "print JSON instead of text");
  options->html.add_to(app);
  add_engine_limits(app);
  app.add_flag("--identity", options->identity)->group("");
  app.footer(
      "Reads only the manifest of an archive, which is at its start; 'tfaot install' checks that "
      "the\n"
      "rest is complete and unchanged. A model is a SavedModel's folder, an ONNX file, a frozen\n"
      "graph or a file with StableHLO: the engine reads it, and counts the floating-point\n"
      "operations of a row before any optimisation.\n"
      "Examples:\n"
      "  tfaot info dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst\n"
      "  tfaot info build/tagger --json\n"
      "  tfaot info aot_config.yaml\n"
      "  tfaot info exports/tagger --html tagger.html");
  return [options](Program& program) { return info(*options, program); };
}

}  // namespace tfaot::toolkit
