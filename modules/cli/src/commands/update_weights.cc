// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/workflow/update_package.h"

namespace tfaot::toolkit {
namespace {

struct UpdateWeightsArguments {
  std::string package;
  std::string model;
  std::string output_directory;
  std::string version;
  EngineRun engine;
  bool allow_large = false;
};

Status update(const UpdateWeightsArguments& options, Program& program) {
  UpdateRequest request;
  request.package = program.absolute(options.package);
  request.model = program.absolute(options.model);
  if (!options.output_directory.empty()) {
    request.output_directory = program.absolute(options.output_directory);
    TFAOT_TRY(check_output_folder(program.files, "--output-directory", request.output_directory));
  }
  request.version = options.version;
  request.engine = options.engine;
  request.allow_large = options.allow_large;
  TFAOT_ASSIGN(const UpdatedPackage made, update_package(program, request));
  show_done(program, made_json("package", made.path, made.manifest),
            fmt::format("updated the weights of model '{}', version {}: {}\n", made.manifest.name,
                        made.manifest.version, made.path.string()));
  return {};
}

}  // namespace

Action add_update_weights(CLI::App& app) {
  auto options = std::make_shared<UpdateWeightsArguments>();
  add_value(app, "PACKAGE", options->package, kPackageHelp)->required();
  add_value(app, "--model PATH (required)", options->model,
            "the retrained model, of the package's format: a SavedModel's\nfolder, an ONNX "
            "file, a frozen graph or a file with StableHLO");
  add_value(app, "-o,--output-directory DIR", options->output_directory,
            "where the new tree or archive goes [a tree: in its place;\nan archive: in its "
            "folder]");
  add_version(app, options->version, "version of the new package [the package's]");
  add_engine_options(app, options->engine, "");
  add_allow_large(app, options->allow_large);
  app.footer(
      "Nothing is compiled: the new model must have the architecture of the package's code; "
      "otherwise\n"
      "the error says what differs. Without --version, the package keeps its version.\n"
      "Examples:\n"
      "  tfaot update-weights build/tagger --model retrained/saved_model\n"
      "  tfaot update-weights dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst \\\n"
      "      --model retrained/saved_model --version 1.0.1");
  return [options](Program& program) { return update(*options, program); };
}

}  // namespace tfaot::toolkit
