// SPDX-License-Identifier: Apache-2.0
#include "command_tune.h"

#include <fmt/format.h>

#include <memory>

#include "tfaot/package/package.h"
#include "tfaot/package/repair_tree.h"
#include "tune_options.h"
#include "tune_report.h"
#include "tuned_package.h"
#include "wrong_input.h"

namespace tfaot::toolkit {
namespace {

// The package that the user named.
struct Subject {
  std::string name;  // as the user wrote it
  Path path;
  bool archive = false;
};

Result<Subject> subject_of(const TuneCommand& command, const Context& context) {
  const bool by_option = command.path.empty();
  Subject subject;
  subject.name = by_option ? command.package : command.path;
  subject.path = context.absolute(subject.name);
  const bool folder =
      is_package_tree(context.files, subject.path) || is_torn_tree(context.files, subject.path);
  if (!folder && !is_archive(context.files, subject.path)) {
    return fail(wrong_input(context.files, subject.path,
                            {"'tfaot tune' takes a package tree or an archive", ""}));
  }
  if (folder && (by_option || !command.output.empty())) {
    return fail(Error::usage(fmt::format("tune: {} is for archives, and '{}' is a folder",
                                         by_option ? "--package" : "--output", subject.name)));
  }
  subject.archive = !folder;
  return subject;
}

Status suggest(const TuneCommand& command, const Subject& subject, Context& context) {
  TFAOT_ASSIGN(const SuggestOptions options, suggest_options(command));
  TFAOT_ASSIGN(const Manifest manifest, subject.archive
                                            ? read_archive_manifest(context.files, subject.path)
                                            : read_tree(context.files, subject.path));
  if (manifest.rows == RowsMode::kCoupled) {
    return fail(Error::at({subject.name},
                          "this model runs only batches of the sizes that it is compiled for "
                          "(compilation.rows: coupled)")
                    .note("compile the sizes that you run: there are no others to suggest"));
  }
  TFAOT_ASSIGN(const Suggestion suggestion, suggest_sizes(manifest, options, subject.name));
  context.console.print(suggestion_text(suggestion));
  return {};
}

Status tune(const TuneCommand& command, const Subject& subject, Context& context) {
  TuneOptions options;
  options.compiler = command.compiler;
  options.machine = context.environment.architecture;
  options.budget = std::chrono::milliseconds(static_cast<int>(command.budget_seconds * 1000));
  const Path output = command.output.empty() ? subject.path : context.absolute(command.output);
  TFAOT_ASSIGN(const Manifest manifest,
               subject.archive
                   ? tune_archive(context, {subject.path, output, command.allow_large}, options)
                   : tune_tree(context, subject.path, options));
  context.console.report(fmt::format("tuned {}\n{}", output.string(), tuning_text(manifest)));
  return {};
}

}  // namespace

Action add_tune(CLI::App& app) {
  auto command = std::make_shared<TuneCommand>();
  add_tune_options(app, *command);
  return [command](Context& context) -> Status {
    command->verbosity.apply(context.console);
    TFAOT_TRY(check_tune_command(*command));
    TFAOT_ASSIGN(const Subject subject, subject_of(*command, context));
    return command->suggest ? suggest(*command, subject, context)
                            : tune(*command, subject, context);
  };
}

}  // namespace tfaot::toolkit
