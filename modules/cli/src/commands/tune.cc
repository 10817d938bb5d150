// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>

#include "commands/commands.h"
#include "options/tune_options.h"
#include "text/describe.h"
#include "text/reports.h"
#include "tfaot/workflow/tuned_package.h"

namespace tfaot::toolkit {
namespace {

Status check_form(const TuneCommand& command, PackageForm form) {
  const bool by_option = command.path.empty();
  if (form == PackageForm::kArchive || (!by_option && command.output.empty())) return {};
  return fail(Error::usage(fmt::format("tune: {} is for archives, and '{}' is a folder",
                                       by_option ? "--package" : "--output", name_of(command))));
}

Status tune(const TuneCommand& command, Program& program) {
  TFAOT_TRY(check_tune_command(command));
  TuneRequest request;
  request.package = program.absolute(name_of(command));
  TFAOT_ASSIGN(const PackageForm form, package_form(program, request.package));
  TFAOT_TRY(check_form(command, form));
  if (command.suggest) {
    TFAOT_ASSIGN(const SuggestOptions options, suggest_options(command));
    TFAOT_ASSIGN(const Suggestion suggestion,
                 suggest_for_package(program, request.package, options, name_of(command)));
    program.console.print(command.json.given ? json_text(suggestion_json(suggestion))
                                             : suggestion_text(suggestion));
    return {};
  }
  if (!command.output.empty()) request.output = program.absolute(command.output);
  request.compiler = command.compiler;
  request.budget = std::chrono::milliseconds(static_cast<int>(command.budget_seconds * 1000));
  request.allow_large = command.allow_large;
  TFAOT_ASSIGN(const Manifest manifest, write_tuned_package(program, request));
  const Path& written = request.output.empty() ? request.package : request.output;
  nlohmann::ordered_json json = made_json("tuned", written, manifest);
  json["tuning"] = tuning_json(manifest);
  command.json.show(program.console, json,
                    fmt::format("tuned {}\n{}", written.string(), tuning_text(manifest)));
  return {};
}

}  // namespace

Action add_tune(CLI::App& app) {
  auto command = std::make_shared<TuneCommand>();
  add_tune_options(app, *command);
  return [command](Program& program) {
    command->verbosity.apply(program.console);
    return tune(*command, program);
  };
}

}  // namespace tfaot::toolkit
