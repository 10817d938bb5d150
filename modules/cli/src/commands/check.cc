// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "commands/commands.h"
#include "options/html_option.h"
#include "options/shared_options.h"
#include "pages/check_page.h"
#include "text/check_report.h"
#include "text/describe.h"
#include "tfaot/workflow/check_model.h"

namespace tfaot::toolkit {
namespace {

struct CheckArguments {
  VerbosityOption verbosity;
  std::string path;
  bool lists_operations = false;
  ModelFormat format = ModelFormat::kSavedModel;  // whose operations
  bool json = false;
  HtmlOption html;
  CheckRequest request;
};

Status list_operations(const CheckArguments& options, Program& program) {
  KnownOperations known{options.format, {}};
  TFAOT_ASSIGN(known.operations,
               compiled_operations(program, options.format, options.request.engine));
  const auto json = known_operations_to_json(known);
  if (options.html.given()) {
    TFAOT_TRY(options.html.write(program, operations_page(known), json));
  }
  program.console.print(options.json ? json_text(json) : operations_text(known));
  return {};
}

Status check(const CheckArguments& options, Program& program) {
  TFAOT_TRY(options.html.check(program));
  if (options.lists_operations && options.format == ModelFormat::kStableHlo) {
    return fail(Error::usage("check: --ops has no list for StableHLO: XLA compiles all of its "
                             "operations that only compute on one device")
                    .note("'tfaot check MODEL' says what of a model cannot be compiled"));
  }
  if (options.lists_operations) return list_operations(options, program);
  if (options.path.empty()) {
    return fail(Error::usage("check: MODEL is missing")
                    .note("name a model or a config, or give --ops to list what can be compiled"));
  }
  CheckRequest request = options.request;
  request.path = program.absolute(options.path);
  TFAOT_ASSIGN(request.cache, code_cache(program));
  TFAOT_ASSIGN(const ModelCheck found, check_model(program, request));
  const auto json = check_to_json(found, options.path);
  if (options.html.given()) {
    const std::string name = request.path.filename().string();
    TFAOT_TRY(options.html.write(program, check_page(found, name), json));
  }
  if (options.json) {
    program.console.print(json_text(json));
  } else {
    program.console.print(check_text(found, options.path),
                          found.compiles() ? Tone::kGood : Tone::kBad);
  }
  if (found.compiles()) return {};
  return fail(Error::at({options.path}, "does not compile"));
}

}  // namespace

Action add_check(CLI::App& app) {
  auto options = std::make_shared<CheckArguments>();
  CheckRequest& request = options->request;
  auto* path = app.add_option("MODEL", options->path,
                              "a config, a SavedModel's folder, an ONNX file, a frozen\ngraph or a "
                              "file with StableHLO")
                   ->option_text(" ");
  auto* operations =
      app.add_flag("--ops", options->lists_operations, "list the operations that can be compiled")
          ->excludes(path)
          ->option_text(" ");
  add_word_option<ModelFormat>(app, "--format", options->format,
                               "whose operations: TensorFlow's or ONNX's [saved_model]")
      ->needs(operations);
  app.add_flag("--json", options->json, "print JSON instead of text");
  options->html.add_to(app);
  app.add_option("--signature", request.signature, "of a model: check only this one [all]")
      ->option_text("KEY");
  app.add_option("--batch-sizes", request.overrides.batch_sizes,
                 "instead of the config's [of a model: 1,2,4,8,16,32,\nor the one that it fixes]")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("N,...");
  app.add_option("--cpu-levels", request.overrides.cpu_levels, "instead of the config's")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->option_text("A,B");
  app.add_option("--target-triple", request.overrides.target_triple, "instead of the config's")
      ->option_text("T");
  add_model_modes(app, request.overrides.rows, request.overrides.batch, request.overrides.opset);
  add_dimensions(app, request.overrides.dimensions);
  options->verbosity.add_to(app);
  add_engine_program(app, request.engine, "");
  app.footer(
      "Compiles the model as 'tfaot compile' does and keeps nothing but the cached code. Lists "
      "every\n"
      "problem that it finds, with its node, and all operations. The exit code is 0 if everything\n"
      "that was checked compiles, and 1 if not.\n"
      "Examples:\n"
      "  tfaot check aot_config.yaml\n"
      "  tfaot check exports/tagger --signature serving_default --batch-sizes 1,4\n"
      "  tfaot check net.onnx --dimension n_tracks=50\n"
      "  tfaot check --ops --format onnx");
  return [options](Program& program) -> Status {
    options->verbosity.apply(program.console);
    return check(*options, program);
  };
}

}  // namespace tfaot::toolkit
