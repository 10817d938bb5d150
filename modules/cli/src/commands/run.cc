// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "commands/commands.h"
#include "options/html_option.h"
#include "options/shared_options.h"
#include "pages/predictions_page.h"
#include "text/describe.h"
#include "text/predictions.h"
#include "tfaot/workflow/run_package.h"

namespace tfaot::toolkit {
namespace {

struct RunArguments {
  std::string package;
  std::string inputs;
  std::string output;
  std::optional<std::int64_t> rows;
  std::optional<std::uint64_t> seed;
  bool json = false;
  HtmlOption html;
  VerbosityOption verbosity;
  RunRequest request;
};

Result<InputSource> input_source(const RunArguments& options, const Program& program) {
  InputSource source;
  const auto filling = parse_word<Filling>(options.inputs);
  if (filling) {
    source.filling = *filling;
  } else {
    source.file = program.absolute(options.inputs);
  }
  const bool random = filling && *filling == Filling::kRandom;
  const std::string extension = source.file.extension().string();
  if (!filling && !parse_word<ArrayFormat>(extension)) {
    return fail(Error::usage(fmt::format("run: --inputs '{}' is neither a file of {} nor a word",
                                         options.inputs, join(words_of<ArrayFormat>(), ", ")))
                    .note("words: " + join(words_of<Filling>(), ", ")));
  }
  if (options.rows && !filling) {
    return fail(Error::usage("run: --rows is for inputs that are made; a file has its own rows"));
  }
  if (options.seed && !random) {
    return fail(Error::usage("run: --seed is for --inputs random"));
  }
  source.rows = options.rows;
  source.seed = options.seed.value_or(source.seed);
  return source;
}

// CLI11's own message would name the largest number, in 309 digits.
std::string not_negative(const std::string& text) {
  return text.starts_with('-') ? fmt::format("'{}' is negative", text) : "";
}

nlohmann::ordered_json run_to_json(const RunResult& result, const std::string& file) {
  nlohmann::ordered_json outputs = nlohmann::ordered_json::array();
  for (const Array& array : result.outputs) {
    outputs.push_back(
        {{"name", array.name}, {"dtype", word_of(array.dtype)}, {"shape", array.shape}});
  }
  nlohmann::ordered_json json = {{"model", result.model},
                                 {"version", result.version},
                                 {"cpu_level", result.cpu_level},
                                 {"rows", result.rows},
                                 {"outputs", std::move(outputs)}};
  if (!file.empty()) json["file"] = file;
  return json;
}

Status run(const RunArguments& options, Program& program) {
  options.verbosity.apply(program.console);
  TFAOT_TRY(options.html.check(program));
  RunRequest request = options.request;
  request.package.package = program.absolute(options.package);
  request.package.command = "tfaot run";
  TFAOT_ASSIGN(request.inputs, input_source(options, program));
  if (!options.output.empty()) {
    request.output = program.absolute(options.output);
    TFAOT_TRY(check_output_file(program.files, "--output", request.output));
    TFAOT_TRY(array_format(request.output));
  }
  TFAOT_ASSIGN(const RunResult result, run_package(program, request));
  const auto json = run_to_json(result, options.output);
  if (options.html.given()) {
    TFAOT_TRY(options.html.write(program, predictions_page(result), json));
  }
  if (options.json) {
    program.console.print(json_text(json));
  } else if (options.output.empty()) {
    program.console.print(predictions_table(result.outputs));
  } else {
    program.console.report(
        fmt::format("output     {}\nmodel      {} {}\nrows       {}\n"
                    "CPU level  {}\n",
                    options.output, result.model, result.version, result.rows, result.cpu_level));
  }
  return {};
}

}  // namespace

Action add_run(CLI::App& app) {
  auto options = std::make_shared<RunArguments>();
  RunRequest& request = options->request;
  app.add_option("PACKAGE", options->package, kPackageHelp)->required()->option_text(" ");
  app.add_option("-i,--inputs", options->inputs,
                 "a .npz, .npy or .csv file; or " + join(words_of<Filling>(), ", "))
      ->required()
      ->option_text("FILE|WORD");
  app.add_option("-o,--output", options->output,
                 "the .npz, .npy or .csv file to write [a table on the terminal]")
      ->option_text("FILE");
  app.add_option("--rows", options->rows, "rows of inputs that are made [1]")
      ->check(not_negative)
      ->option_text("N");
  app.add_option("--seed", options->seed, "of random inputs [1]")->option_text("N");
  app.add_option("--cpu-level", request.options.cpu_level,
                 "run the code of this level [the best one for this CPU]")
      ->option_text("LEVEL");
  app.add_option("--batch-rule", request.options.batch_rules,
                 "how a batch is composed: 5:2,4 runs 5 rows as 2 and 4; may be repeated")
      ->option_text("ROWS:SIZES")
      ->expected(1)
      ->take_all();
  app.add_flag("--json", options->json, "print JSON instead: what ran, without the numbers");
  options->html.add_to(app);
  add_allow_large(app, request.package.allow_large);
  options->verbosity.add_to(app);
  app.footer(
      "Arrays are found by the names of the model's inputs, which 'tfaot info' shows; one in a "
      ".npy\n"
      "is the only input. Links the code once, with 'ld', and keeps it in the cache "
      "(TFAOT_CACHE_DIR).\n"
      "Examples:\n"
      "  tfaot run area/tagger --inputs events.npz -o scores.npz\n"
      "  tfaot run out --inputs random --rows 3");
  return [options](Program& program) { return run(*options, program); };
}

}  // namespace tfaot::toolkit
