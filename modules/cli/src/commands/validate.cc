// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <memory>

#include "commands/commands.h"
#include "options/html_option.h"
#include "options/shared_options.h"
#include "pages/validation_page.h"
#include "text/describe.h"
#include "text/validation_report.h"
#include "tfaot/workflow/array_files.h"
#include "tfaot/workflow/validate_package.h"

namespace tfaot::toolkit {
namespace {

constexpr const char* kRandomInputs = "random";

struct ValidateArguments {
  VerbosityOption verbosity;
  ValidatedPaths paths;
  std::string library;
  std::string expected;
  std::string inputs = kRandomInputs;
  bool only_these = false;
  bool record = false;
  bool json = false;
  HtmlOption html;
  ValidateRequest request;
};

// CLI11's own message would name the largest number, in 309 digits.
std::string amount_rule(const std::string& text) {
  char* end = nullptr;
  const double amount = std::strtod(text.c_str(), &end);
  if (*end == '\0' && amount >= 0 && std::isfinite(amount)) return "";
  return fmt::format("'{}' is not a number of 0 or more", text);
}

Status validate(const ValidateArguments& options, Program& program) {
  options.verbosity.apply(program.console);
  TFAOT_TRY(options.html.check(program));
  ValidateRequest request = options.request;
  request.package.package = program.absolute(options.paths.package);
  request.package.command = "tfaot validate";
  if (options.paths.model.empty() == options.expected.empty()) {
    return fail(Error::usage("validate: name either --model or --expected"));
  }
  ValidatedPaths paths = options.paths;
  if (!options.expected.empty()) {
    paths.model = options.expected;
    request.expected = program.absolute(options.expected);
    if (options.inputs == kRandomInputs || !options.library.empty()) {
      return fail(Error::usage(
          "validate: --expected takes the inputs of its outputs, --inputs FILE, and no --library"));
    }
  } else {
    request.model = program.absolute(options.paths.model);
  }
  if (!options.library.empty()) request.library = program.absolute(options.library);
  request.edges = !options.only_these;
  request.record = options.record;
  if (options.inputs != kRandomInputs) {
    request.inputs = program.absolute(options.inputs);
    if (!parse_word<ArrayFormat>(request.inputs.extension().string())) {
      return fail(Error::usage(
          fmt::format("validate: --inputs '{}' is neither a file of {} nor "
                      "'{}'",
                      options.inputs, join(words_of<ArrayFormat>(), ", "), kRandomInputs)));
    }
  }
  TFAOT_ASSIGN(const ValidationResult result, validate_package(program, request));
  const auto json = validation_result_to_json(result, paths);
  if (options.html.given()) {
    TFAOT_TRY(options.html.write(program, validation_page(result), json));
  }
  if (options.json) {
    program.console.print(json_text(json));
  } else {
    program.console.print(validation_text(result, paths),
                          result.passed() ? Tone::kGood : Tone::kBad);
  }
  if (!result.passed()) {
    return fail(Error::at({options.paths.package}, "its predictions are not those of the model"));
  }
  if (!options.record) return {};
  TFAOT_TRY(record_validation(program, request, result));
  if (!options.json) program.console.report(fmt::format("recorded in {}\n", options.paths.package));
  return {};
}

}  // namespace

Action add_validate(CLI::App& app) {
  auto options = std::make_shared<ValidateArguments>();
  ValidateRequest& request = options->request;
  app.add_option("PACKAGE", options->paths.package, kPackageHelp)->required()->option_text(" ");
  app.add_option(
         "--model", options->paths.model,
         "what it was compiled from: a SavedModel's folder, an ONNX\nfile, a frozen graph, a file "
         "with StableHLO, or a config\nthat names one")
      ->option_text("PATH");
  app.add_option("--expected", options->expected,
                 "instead of a model: its outputs for --inputs, saved from\nthe library that "
                 "trained it; a .npz, .npy or .csv file")
      ->option_text("FILE");
  app.add_option("--library", options->library,
                 "of an ONNX model: ONNX Runtime's shared library, which\nruns the model")
      ->option_text("FILE");
  app.add_option("-i,--inputs", options->inputs, "a .npz, .npy or .csv file, or random [random]")
      ->option_text("FILE|random");
  app.add_option("--seed", request.seed, "of random inputs [1]")->option_text("N");
  app.add_flag("--only-these", options->only_these,
               "no zeros, ones, large numbers, NaN and other edges")
      ->option_text(" ");
  app.add_option("--tolerance", request.tolerance,
                 "difference allowed, times an output's largest number\n[1e-5, more for weights in "
                 "fewer bits]")
      ->check(amount_rule)
      ->option_text("SHARE");
  app.add_option("--absolute-tolerance", request.absolute_tolerance, "and added to that [1e-6]")
      ->check(amount_rule)
      ->option_text("NUMBER");
  app.add_flag("--strict", request.strict, "edge inputs count for the verdict too")
      ->option_text(" ");
  app.add_option("--signature", request.signature,
                 "of a SavedModel [the one that the package was compiled from]")
      ->option_text("KEY");
  app.add_flag("--record", options->record,
               "if it passes, put the figures into the package's manifest")
      ->option_text(" ");
  app.add_flag("--json", options->json, "print JSON instead of text");
  options->html.add_to(app);
  add_allow_large(app, request.package.allow_large);
  options->verbosity.add_to(app);
  add_engine_program(app, request.engine, "");
  app.footer(
      "Runs the package and the original model on the same inputs, in every compiled batch size, "
      "with\n"
      "padding and in several calls, at each CPU level that this machine can run. The exit code is "
      "1\n"
      "if a prediction differs by more than the tolerance, or the model's own rounding.\n"
      "Examples:\n"
      "  tfaot validate out --model exports/tagger\n"
      "  tfaot validate out --model net.onnx --library libonnxruntime.so.1\n"
      "  tfaot validate area/tagger --model aot_config.yaml --inputs events.npz\n"
      "  tfaot validate out --inputs events.npz --expected scores.npz\n"
      "  tfaot validate dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst --model exports/tagger "
      "--record");
  return [options](Program& program) { return validate(*options, program); };
}

}  // namespace tfaot::toolkit
