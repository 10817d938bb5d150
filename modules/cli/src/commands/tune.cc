// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/base/text.h"
#include "tfaot/records/json_text.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/report/page.h"
#include "tfaot/workflow/tuned_package.h"

namespace tfaot::toolkit {
namespace {

// The command line of `tfaot tune`.

// Paths are as the user wrote them. Empty or 0: not given, unless a default is set here.
struct TuneCommand {
  std::string path;
  std::string package;
  double budget_seconds = 10;
  TuneRequest request;

  bool suggest = false;
  std::string range;
  std::vector<std::string> rows;
  SuggestOptions suggestion;
};

void add_suggest_options(CLI::App& app, TuneCommand& command) {
  app.add_flag("--suggest", command.suggest,
               "measure nothing; suggest sizes from earlier measurements");
  add_value(app, "--range FIRST:LAST", command.range,
            "numbers of rows, all equally likely [1:256]");
  add_list(app, "--rows N[:WEIGHT],...", command.rows,
           "these numbers instead, and how often each comes [1]");
  add_value(app, "--max-bytes BYTES", command.suggestion.max_bytes,
            "at most this many bytes of code, for all levels");
  add_value(app, "--max-sizes N", command.suggestion.max_sizes, "at most this many batch sizes");
  add_list(app, "--candidates 1,2,4", command.suggestion.candidates,
           "sizes to choose from [the compiled ones and powers of two]")
      ->check(CLI::PositiveNumber);
  add_value(app, "--cpu-level LEVEL", command.suggestion.cpu_level,
            "use its costs [the highest measured level]");
}

Result<std::map<std::size_t, double>> weighted_rows(const std::vector<std::string>& words) {
  std::map<std::size_t, double> rows;
  for (const std::string& word : words) {
    const std::size_t colon = word.find(':');
    const auto count = parse_number<std::size_t>(word.substr(0, colon));
    const auto weight =
        colon == std::string::npos ? 1.0 : parse_number<double>(word.substr(colon + 1)).value_or(0);
    if (!count || *count == 0 || *count > kMostRows || !(weight > 0 && weight < 1e15)) {
      return fail(
          Error::usage(fmt::format("tune: --rows: '{}' is not a number of rows", word))
              .note(fmt::format("N or N:WEIGHT, N from 1 to {}, WEIGHT above 0", kMostRows)));
    }
    rows[*count] += weight;
  }
  return rows;
}

Status needs(bool said, bool allowed, const char* message) {
  if (!said || allowed) return {};
  return fail(Error::usage(message));
}

// `command` must live until parsing is done.
void add_tune_options(CLI::App& app, TuneCommand& command) {
  add_value(app, "PATH", command.path, kPackageHelp);
  add_value(app, "--package FILE", command.package, "the archive, instead of PATH");
  add_value(app, "-o,--output FILE", command.request.output,
            "write the tuned archive there [in its place]");
  add_value(app, "--budget SECONDS", command.budget_seconds, "measure no longer than this [10]")
      ->check(CLI::Range(0.001, 86400.0));
  add_value(app, "--compiler PROGRAM", command.request.compiler, "C++ compiler to link with [c++]");
  add_allow_large(app, command.request.allow_large);
  in_group(app, "Which batch sizes to compile", [&] { add_suggest_options(app, command); });
  app.footer(
      R"(The code of every batch size and CPU level that this machine can run is measured, and what a
call costs goes into the package: its manifest and a header. Tune on the kind of machine the
package will run on; tuning again replaces the costs.
Examples:
  tfaot tune build/tagger
  tfaot tune --package dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst
  tfaot tune build/tagger --suggest --range 1:256 --max-bytes 500000)");
}

// The package as the user wrote it.
const std::string& name_of(const TuneCommand& command) {
  return command.path.empty() ? command.package : command.path;
}

// Error: options that cannot be used together, or a missing one.
Status check_tune_command(const TuneCommand& command) {
  if (command.path.empty() == command.package.empty()) {
    return fail(Error::usage(command.path.empty() ? "tune: a package tree or an archive is required"
                                                  : "tune: PATH and --package exclude each other")
                    .note("see 'tfaot tune --help'"));
  }
  TFAOT_TRY(needs(!command.rows.empty(), command.range.empty(),
                  "tune: --rows and --range exclude each other"));
  TFAOT_TRY(needs(!command.request.output.empty(), !command.suggest,
                  "tune: --suggest writes nothing, so it takes no --output"));
  const SuggestOptions& options = command.suggestion;
  const bool about_sizes = !command.range.empty() || !command.rows.empty() ||
                           options.max_bytes != 0 || options.max_sizes != 0 ||
                           !options.candidates.empty() || !options.cpu_level.empty();
  return needs(about_sizes, command.suggest,
               "tune: --range, --rows, --max-bytes, --max-sizes, --candidates and --cpu-level "
               "need --suggest");
}

Result<SuggestOptions> suggest_options(const TuneCommand& command) {
  SuggestOptions options = command.suggestion;
  TFAOT_ASSIGN(options.rows,
               !command.rows.empty()
                   ? weighted_rows(command.rows)
                   : rows_of_range("tune", command.range.empty() ? "1:256" : command.range));
  return options;
}

Status check_form(const TuneCommand& command, PackageForm form) {
  const bool by_option = command.path.empty();
  if (form == PackageForm::kArchive || (!by_option && command.request.output.empty())) return {};
  return fail(Error::usage(fmt::format("tune: {} is for archives, and '{}' is a folder",
                                       by_option ? "--package" : "--output", name_of(command))));
}

std::string suggestion_text(const Suggestion& suggestion) {
  report::Page page;
  page.heading = "by the costs of CPU level " + suggestion.cpu_level;
  page.sections = suggestion_sections(suggestion);
  return report::text_of(page) + fmt::format("\ncompilation:\n  batch_sizes: [{}]\n",
                                             sizes_text(suggestion.suggested.sizes));
}

nlohmann::ordered_json set_json(const SizeSet& set) {
  auto sizes = nlohmann::ordered_json::array();
  for (const SizeCost& cost : set.sizes) {
    sizes.push_back({{"batch_size", cost.size},
                     {"ns", cost.ns},
                     {"bytes", cost.bytes},
                     {"compiled", cost.compiled}});
  }
  return {{"ns", set.ns}, {"row_ns", set.row_ns}, {"bytes", set.bytes}, {"sizes", sizes}};
}

Status tune(const TuneCommand& command, Program& program) {
  TFAOT_TRY(check_tune_command(command));
  TuneRequest request = command.request;
  request.package = name_of(command);
  make_absolute(program, {&request.package, &request.output});
  TFAOT_ASSIGN(const PackageForm form, package_form(program, request.package));
  TFAOT_TRY(check_form(command, form));
  if (command.suggest) {
    TFAOT_ASSIGN(const SuggestOptions options, suggest_options(command));
    TFAOT_ASSIGN(const Suggestion suggestion,
                 suggest_for_package(program, request.package, options, name_of(command)));
    program.console.print(program.json ? json_text(suggestion_json(suggestion))
                                       : suggestion_text(suggestion));
    return {};
  }
  request.budget = std::chrono::milliseconds(static_cast<int>(command.budget_seconds * 1000));
  TFAOT_ASSIGN(const Manifest manifest, write_tuned_package(program, request));
  const Path& written = request.output.empty() ? request.package : request.output;
  nlohmann::ordered_json json = made_json("tuned", written, manifest);
  json["tuning"] = json_from_text(manifest_to_json(manifest))["tuning"];
  report::Page page;
  page.heading = "tuned " + written.string();
  page.sections = {times_section(manifest), plan_section(manifest)};
  show_done(program, json, report::text_of(page));
  return {};
}

}  // namespace

Result<std::map<std::size_t, double>> rows_of_range(const std::string& verb,
                                                    const std::string& range) {
  const std::size_t colon = range.find(':');
  const auto first = parse_number<std::size_t>(range.substr(0, colon));
  const auto last =
      parse_number<std::size_t>(colon == std::string::npos ? range : range.substr(colon + 1));
  if (!first || !last || *first == 0 || *first > *last || *last > kMostRows) {
    return fail(Error::usage(fmt::format("{}: --range: '{}' is not a range", verb, range))
                    .note(fmt::format("FIRST:LAST, from 1 to {}", kMostRows)));
  }
  std::map<std::size_t, double> rows;
  for (std::size_t i = *first; i <= *last; ++i) rows[i] = 1;
  return rows;
}

std::string sizes_text(const std::vector<SizeCost>& sizes) {
  return join(mapped(sizes, [&](const SizeCost& cost) { return std::to_string(cost.size); }), ", ");
}

std::vector<report::Section> suggestion_sections(const Suggestion& suggestion) {
  using report::ColumnKind;
  const auto whole = [](std::uint64_t bytes) { return report::Cell{std::to_string(bytes)}; };
  report::Table sizes{.columns = {{"batch size", ColumnKind::kNumber},
                                  {"µs a call", ColumnKind::kNumber},
                                  {"µs a row", ColumnKind::kNumber},
                                  {"bytes", ColumnKind::kNumber},
                                  {""}}};
  for (const SizeCost& cost : suggestion.suggested.sizes) {
    sizes.rows.push_back({number_cell(static_cast<std::int64_t>(cost.size)),
                          microseconds_cell(cost.ns),
                          microseconds_cell(cost.ns / static_cast<double>(cost.size)),
                          whole(cost.bytes),
                          {cost.compiled ? "compiled, measured" : "not compiled, both estimated"}});
  }
  report::Table sets{.columns = {{""},
                                 {"µs a call", ColumnKind::kNumber},
                                 {"µs a row", ColumnKind::kNumber},
                                 {"bytes", ColumnKind::kNumber},
                                 {"batch sizes"}}};
  const auto add = [&](const char* name, const SizeSet& set) {
    sets.rows.push_back({{name},
                         microseconds_cell(set.ns),
                         microseconds_cell(set.row_ns),
                         whole(set.bytes),
                         {sizes_text(set.sizes)}});
  };
  add("suggested", suggestion.suggested);
  add("compiled now", suggestion.compiled);
  return {{report::kOverview, {}, {std::move(sizes)}}, {"on average", {}, {std::move(sets)}}};
}

nlohmann::ordered_json suggestion_json(const Suggestion& suggestion) {
  return {{"kind", "suggestion"},
          {"cpu_level", suggestion.cpu_level},
          {"suggested", set_json(suggestion.suggested)},
          {"compiled", set_json(suggestion.compiled)}};
}

Action add_tune(CLI::App& app) {
  auto command = std::make_shared<TuneCommand>();
  add_tune_options(app, *command);
  return [command](Program& program) { return tune(*command, program); };
}

}  // namespace tfaot::toolkit
