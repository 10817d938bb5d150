// SPDX-License-Identifier: Apache-2.0
#include "tfaot/workflow/convert_area.h"

#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"

namespace tfaot::toolkit {
namespace {

std::string describe_sizes(const ConvertedModel& converted, bool whole) {
  if (converted.constants == 0) {
    return fmt::format("objects: {} bytes, {}", converted.bytes_after,
                       whole ? "unchanged" : "with no weights that can be shared");
  }
  return fmt::format("objects: {} bytes before, {} after; {} blocks of weights, stored as {}",
                     converted.bytes_before, converted.bytes_after, converted.constants,
                     converted.distinct_constants);
}

std::string converted_text(const ConvertedPackage& made, const ConvertRequest& request) {
  std::string alone;
  for (const LoneConstants& block : made.model.alone) {
    alone += fmt::format("{} has {} bytes that no other object has\n", block.object, block.size);
  }
  return fmt::format("converted model '{}' for batch sizes {} into {}\n{}\n{}", made.manifest.name,
                     fmt::join(made.manifest.batch_sizes, ","), request.output_directory.string(),
                     describe_sizes(made.model, !request.share_weights), alone);
}

nlohmann::ordered_json converted_json(const ConvertedPackage& made, const ConvertRequest& request) {
  nlohmann::ordered_json json = made_json("tree", request.output_directory, made.manifest);
  json["batch_sizes"] = made.manifest.batch_sizes;
  json["bytes_before"] = made.model.bytes_before;
  json["bytes_after"] = made.model.bytes_after;
  return json;
}

Status convert(ConvertRequest request, Program& program) {
  make_absolute(program, {&request.area, &request.output_directory});
  TFAOT_TRY(check_output_folder(program.files, "--output-directory", request.output_directory));
  TFAOT_ASSIGN(const ConvertedPackage made, convert_area(program, request));
  show_done(program, converted_json(made, request), converted_text(made, request));
  return {};
}

}  // namespace

Action add_convert_area(CLI::App& app) {
  auto request = std::make_shared<ConvertRequest>();
  add_value(app, "AREA", request->area,
            "the folder with NAME_bsN.h, NAME_bsN.o and possibly a tool file")
      ->required();
  add_value(app, "-o,--output-directory DIR (required)", request->output_directory,
            "folder of the package tree; made if missing");
  add_value(app, "--model NAME", request->model, "NAME, if the area holds several models");
  add_version(app, request->version, "version of the package [the tool file's]");
  add_value(app, "--tool-name NAME", request->tool_name,
            "name of the tool [the tool file's, else tfaot-model-NAME]");
  add_value(app, "--tool-base BASE", request->tool_base,
            "the tool file's base folder, such as $CMSSW_BASE/...\n[@TOOL_BASE@]");
  add_value(
      app, "--cpu-level LEVEL", request->cpu_level,
      "what the objects were compiled for, such as by\n--target_cpu [any CPU of their machine]");
  add_word_option<HeadersMode>(
      app, "--headers", request->headers,
      "cmssw: for PhysicsTools/TensorFlowAOT inside CMSSW\n[self_contained]");
  app.add_flag_callback(
      "--whole", [request] { request->share_weights = false; },
      "leave the weights in every object");
  app.footer(
      R"(Nothing is compiled. Weights that are equal in several objects are stored once. Objects that
cannot share their weights keep them, and are listed. AREA stays unchanged.
Examples:
  tfaot convert-area upstream_out -o build/tagger
  tfaot convert-area upstream_out/aot -o build/tagger --version 1.0.0)");
  return [request](Program& program) { return convert(*request, program); };
}

}  // namespace tfaot::toolkit
