// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/convert_area.h"

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "text/reports.h"

namespace tfaot::toolkit {
namespace {

struct ConvertAreaArguments {
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
  JsonOption json;
};

Status convert(const ConvertAreaArguments& options, Program& program) {
  ConvertRequest request;
  request.area = program.absolute(options.area);
  request.output_directory = program.absolute(options.output_directory);
  TFAOT_TRY(check_output_folder(program.files, "--output-directory", request.output_directory));
  request.model = options.model;
  request.version = options.version;
  request.tool_name = options.tool_name;
  request.tool_base = options.tool_base;
  request.cpu_level = options.cpu_level;
  request.headers = options.headers;
  request.share_weights = !options.whole;
  TFAOT_ASSIGN(const ConvertedPackage made, convert_area(program, request));
  options.json.show(program.console, converted_json(made, request), converted_text(made, request));
  return {};
}

}  // namespace

Action add_convert_area(CLI::App& app) {
  auto options = std::make_shared<ConvertAreaArguments>();
  app.add_option("AREA", options->area,
                 "the folder with NAME_bsN.h, NAME_bsN.o and possibly a tool file")
      ->required()
      ->option_text(" ");
  app.add_option("-o,--output-directory", options->output_directory,
                 "folder of the package tree; made if missing")
      ->required()
      ->option_text("DIR (required)");
  app.add_option("--model", options->model, "NAME, if the area holds several models")
      ->option_text("NAME");
  add_version(app, options->version, "version of the package [the tool file's]");
  app.add_option("--tool-name", options->tool_name,
                 "name of the tool [the tool file's, else tfaot-model-NAME]")
      ->option_text("NAME");
  app.add_option("--tool-base", options->tool_base,
                 "the tool file's base folder, such as $CMSSW_BASE/...\n[@TOOL_BASE@]")
      ->option_text("BASE");
  app.add_option(
         "--cpu-level", options->cpu_level,
         "what the objects were compiled for, such as by\n--target_cpu [any CPU of their machine]")
      ->option_text("LEVEL");
  add_word_option<HeadersMode>(
      app, "--headers", options->headers,
      "cmssw: for PhysicsTools/TensorFlowAOT inside CMSSW\n[self_contained]");
  app.add_flag("--whole", options->whole, "leave the weights in every object");
  options->verbosity.add_to(app);
  options->json.add_to(app);
  app.footer(
      "Nothing is compiled. Weights that are equal in several objects are stored once. Objects "
      "that\n"
      "cannot share their weights keep them, and are listed. AREA stays unchanged.\n"
      "Examples:\n"
      "  tfaot convert-area upstream_out -o build/tagger\n"
      "  tfaot convert-area upstream_out/aot -o build/tagger --version 1.0.0");
  return [options](Program& program) {
    options->verbosity.apply(program.console);
    return convert(*options, program);
  };
}

}  // namespace tfaot::toolkit
