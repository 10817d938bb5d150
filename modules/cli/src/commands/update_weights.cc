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

Status update(UpdateRequest request, Program& program) {
  make_absolute(program, {&request.package, &request.model, &request.output_directory});
  if (!request.output_directory.empty()) {
    TFAOT_TRY(check_output_folder(program.files, "--output-directory", request.output_directory));
  }
  TFAOT_ASSIGN(const UpdatedPackage made, update_package(program, request));
  show_done(program, made_json("package", made.path, made.manifest),
            fmt::format("updated the weights of model '{}', version {}: {}\n", made.manifest.name,
                        made.manifest.version, made.path.string()));
  return {};
}

}  // namespace

Action add_update_weights(CLI::App& app) {
  auto request = std::make_shared<UpdateRequest>();
  add_value(app, "PACKAGE", request->package, kPackageHelp)->required();
  add_value(app, "--model PATH (required)", request->model,
            "the retrained model, of the package's format: a SavedModel's\nfolder, an ONNX "
            "file, a frozen graph or a file with StableHLO");
  add_value(app, "-o,--output-directory DIR", request->output_directory,
            "where the new tree or archive goes [a tree: in its place;\nan archive: in its "
            "folder]");
  add_version(app, request->version, "version of the new package [the package's]");
  add_engine_options(app, request->engine);
  add_allow_large(app, request->allow_large);
  app.footer(
      R"(Nothing is compiled: the new model must have the architecture of the package's code; otherwise
the error says what differs. Without --version, the package keeps its version.
Examples:
  tfaot update-weights build/tagger --model retrained/saved_model
  tfaot update-weights dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst \
      --model retrained/saved_model --version 1.0.1)");
  return [request](Program& program) { return update(*request, program); };
}

}  // namespace tfaot::toolkit
