// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>
#include <tuple>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/base/text.h"
#include "tfaot/records/validation_json.h"
#include "tfaot/workflow/array_files.h"
#include "tfaot/workflow/validate_package.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::ordered_json;
using report::Bars;
using report::Callout;
using report::Cell;
using report::ColumnKind;
using report::Section;
using report::Table;
using report::Verdict;
using report::Where;

// The page of a validation.

constexpr double kMostPercent = 1000;  // that a bar shows

// "1.2e-07"
std::string amount_text(double amount) { return amount == 0 ? "0" : fmt::format("{:.2g}", amount); }

// "x86-64-v3, batch of 9 (stitched), row 3, [0, 2]"; empty if nothing differs.
std::string place_text(const ValidatedOutput& output) {
  if (output.difference.unequal == 0) return "";
  const std::string index =
      output.index.empty() ? "" : fmt::format(", [{}]", fmt::join(output.index, ", "));
  const std::string sizes = output.sizes.empty() ? "" : ", " + named_sizes_text(output.sizes);
  return fmt::format("{}, batch of {} ({}){}, row {}{}", output.cpu_level, output.rows,
                     word_of(output.composition), sizes, output.row, index);
}

// "are equal", "agree", "DIFFER" or "differ, do not count".
std::string outcome_text(const ValidatedOutput& output) {
  if (output.passed) return output.difference.unequal > 0 ? "agree" : "are equal";
  return output.counts ? "DIFFER" : "differ, do not count";
}

// "tensorflow 2.18.1, with the model that the package was made from"
std::string reference_text(const ValidationResult& result) {
  if (result.is_saved) return result.summary.reference + ", saved predictions";
  return fmt::format("{}, with {}", result.summary.reference,
                     result.is_its_source ? "the model that the package was made from"
                                          : "another model than the package was made from");
}

// Names of the outputs that a file of saved ones lacks.
std::vector<std::string> not_compared(const ValidationResult& result) {
  std::vector<std::string> names = mapped(result.manifest.signature.outputs, &TensorSpec::name);
  std::erase_if(names, [&](const std::string& name) {
    return contains(result.outputs, name, &ValidatedOutput::output);
  });
  return names;
}

// "a, b: not in scores.npz"; empty if all outputs are compared.
std::string not_compared_text(const ValidationResult& result) {
  const std::vector<std::string> names = not_compared(result);
  if (names.empty()) return "";
  return fmt::format("{}: not in {}", join(names, ", "), result.summary.reference);
}

double shown_percent(const ValidatedOutput& output) {
  return std::min(100 * share_of_allowed(output), kMostPercent);
}

Cell amount_cell(double amount) { return {.text = amount_text(amount), .number = amount}; }

Verdict verdict_of(const ValidatedOutput& output) {
  if (output.passed) return Verdict::kGood;
  return output.counts ? Verdict::kBad : Verdict::kWarning;
}

// Of each batch and CPU level the worst output; only those that count.
std::vector<ValidatedOutput> by_batch(const std::vector<ValidatedOutput>& outputs) {
  using Key = std::tuple<std::int64_t, Composition, std::string>;
  std::map<Key, ValidatedOutput> worst;
  for (const ValidatedOutput& one : outputs) {
    if (!one.counts) continue;
    const auto [found, is_new] = worst.try_emplace({one.rows, one.composition, one.cpu_level}, one);
    if (!is_new && is_worse(one, found->second)) found->second = one;
  }
  return mapped(worst, [](const auto& entry) { return entry.second; });
}

// The worst at each size of the free dimensions.
Table sizes_table(const ValidationResult& result) {
  Table table{.caption = "By the sizes of free dimensions",
              .columns = {{"sizes"},
                          {"predictions"},
                          {"of allowed", ColumnKind::kNumber},
                          {"largest", ColumnKind::kNumber},
                          {"output", ColumnKind::kCode}}};
  for (const std::vector<DimensionSize>& sizes : result.summary.sizes) {
    const ValidatedOutput* worst = nullptr;
    for (const ValidatedOutput& one : result.outputs) {
      if (!one.counts || named_sizes_text(one.sizes) != named_sizes_text(sizes)) continue;
      if (worst == nullptr || is_worse(one, *worst)) worst = &one;
    }
    if (worst == nullptr) continue;
    table.rows.push_back({{named_sizes_text(sizes)},
                          {.text = outcome_text(*worst), .verdict = verdict_of(*worst)},
                          {.text = allowed_text(*worst), .number = shown_percent(*worst)},
                          amount_cell(worst->difference.largest),
                          {worst->output}});
  }
  return table;
}

Bars batches_chart(const std::vector<ValidatedOutput>& batches,
                   const std::vector<std::string>& levels) {
  Bars bars{.caption = "Largest difference by rows, in % of what is allowed"};
  if (levels.size() <= report::kMostSeries) bars.series = levels;
  for (const ValidatedOutput& one : batches) {
    const auto level = std::ranges::find(levels, one.cpu_level) - levels.begin();
    bars.bars.push_back({fmt::format("{}, {}", one.rows, word_of(one.composition)),
                         shown_percent(one), allowed_text(one),
                         bars.series.empty() ? 0 : static_cast<std::size_t>(level)});
  }
  return bars;
}

std::vector<report::Highlight> highlights_of(const ValidationResult& result,
                                             const std::vector<ValidatedOutput>& batches) {
  std::uint64_t numbers = 0;
  for (const ValidatedOutput& one : result.outputs) numbers += one.difference.numbers;
  std::vector<report::Highlight> highlights;
  const auto worst = std::ranges::max_element(
      batches, [](const auto& a, const auto& b) { return is_worse(b, a); });
  if (worst != batches.end()) {
    const ArrayDifference& difference = worst->difference;
    highlights.push_back(
        {"largest difference", allowed_text(*worst) + " of what is allowed",
         fmt::format("{} of {} allowed, beside numbers up to {}", amount_text(difference.largest),
                     amount_text(worst->allowed), amount_text(difference.scale))});
  }
  highlights.push_back({"numbers compared",
                        report::grouped_digits(static_cast<std::int64_t>(numbers)),
                        counted(result.summary.cpu_levels.size(), "CPU level")});
  highlights.push_back({"numbers of rows", std::to_string(result.summary.rows.size()),
                        fmt::format("{}", fmt::join(result.summary.rows, ", "))});
  return highlights;
}

Section overview(const ValidationResult& result) {
  const Validation& summary = result.summary;
  return {report::kOverview,
          {},
          {report::Facts{
              {{"model", result.manifest.name + " " + result.manifest.version, Where::kText},
               {"reference", reference_text(result)},
               {"CPU levels", join(summary.cpu_levels, ", ")},
               {"not run here", join(result.skipped_levels, ", ")},
               {"rows", fmt::format("{}", fmt::join(summary.rows, ", "))},
               {"tolerance", fmt::format("{:g} of the output's largest number, plus {:g}",
                                         summary.tolerance.relative, summary.tolerance.absolute)},
               {"not compared", not_compared_text(result)}}}}};
}

Section outputs_section(const ValidationResult& result) {
  Section section{"Outputs", {}, {differences_table(result.summary.outputs)}};
  if (!result.summary.sizes.empty()) section.blocks.emplace_back(sizes_table(result));
  for (const ValidatedOutput& one : result.summary.outputs) {
    if (one.difference.moved == 0) continue;
    section.blocks.emplace_back(Callout{
        .text = fmt::format("{}, {}: the tolerance is too small, so the model's own rounding "
                            "decides: it moves by {} if it rounds in other places.",
                            one.output, word_of(one.inputs), amount_text(one.difference.moved))});
  }
  for (const RefusedInputs& one : result.refused) {
    section.blocks.emplace_back(
        Callout{Verdict::kNote,
                fmt::format("Inputs '{}'{} are left out: the model does not take them.",
                            word_of(one.inputs),
                            one.sizes.empty() ? "" : " at " + named_sizes_text(one.sizes)),
                {one.why}});
  }
  return section;
}

Section batches_section(const ValidationResult& result,
                        const std::vector<ValidatedOutput>& batches) {
  return {"Batches",
          {},
          {report::Text{"Random inputs or those of the file, zeros and ones. The other inputs are "
                        "in the table above, and all figures in the data of this page."},
           batches_chart(batches, result.summary.cpu_levels)},
          Where::kPage};
}

// The verb.

constexpr const char* kRandomInputs = "random";

struct ValidateArguments {
  ValidatedPaths paths;
  std::string inputs = kRandomInputs;
  HtmlOption html;
  ValidateRequest request;
  bool bits = false;
};

// CLI11's own message would name the largest number, in 309 digits.
std::string amount_rule(const std::string& text) {
  char* end = nullptr;
  const double amount = std::strtod(text.c_str(), &end);
  if (*end == '\0' && amount >= 0 && std::isfinite(amount)) return "";
  return fmt::format("'{}' is not a number of 0 or more", text);
}

// The inputs' file; empty: random ones.
Result<Path> inputs_file(const std::string& inputs, const Program& program) {
  if (inputs == kRandomInputs) return Path();
  Path file = program.absolute(inputs);
  if (parse_word<ArrayFormat>(file.extension().string())) return file;
  return fail(
      Error::usage(fmt::format("validate: --inputs '{}' is neither a file of {} nor '{}'", inputs,
                               join(words_of<ArrayFormat>(), ", "), kRandomInputs)));
}

void say_recorded(const std::string& package, Program& program) {
  if (!program.json) program.console.report(fmt::format("recorded in {}\n", package));
}

Status validate_bits_of(const ValidateArguments& options, Program& program) {
  const std::string& package = options.paths.package;
  BitsRequest request;
  request.package = options.request.package;
  request.package.package = program.absolute(package);
  request.package.command = "tfaot validate";
  request.seed = options.request.seed;
  request.record = options.request.record;
  request.engine = options.request.engine;
  if (!options.paths.model.empty()) request.model = program.absolute(options.paths.model);
  TFAOT_ASSIGN(request.inputs, inputs_file(options.inputs, program));
  TFAOT_ASSIGN(const BitsResult result, validate_bits(program, request));
  TFAOT_TRY(options.html.show_verdict(program, bits_page(result, package),
                                      bits_result_to_json(result, package)));
  if (!result.passed()) {
    return fail(Error::at({package}, "a row's bits depend on how it is run"));
  }
  if (!request.record) return {};
  TFAOT_TRY(record_bits(program, request, result));
  say_recorded(package, program);
  return {};
}

Status validate(const ValidateArguments& options, Program& program) {
  TFAOT_TRY(options.html.check(program));
  if (options.bits) return validate_bits_of(options, program);
  ValidateRequest request = options.request;
  ValidatedPaths paths = options.paths;
  request.package.package = program.absolute(paths.package);
  request.package.command = "tfaot validate";
  if (paths.model.empty() == request.expected.empty()) {
    return fail(Error::usage("validate: name either --model or --expected, or ask for --bits"));
  }
  request.model = paths.model;
  if (!request.expected.empty()) {
    paths.model = request.expected.string();
    if (options.inputs == kRandomInputs || !request.library.empty()) {
      return fail(Error::usage(
          "validate: --expected takes the inputs of its outputs, --inputs FILE, and no --library"));
    }
  }
  make_absolute(program, {&request.model, &request.expected, &request.library});
  TFAOT_ASSIGN(request.inputs, inputs_file(options.inputs, program));
  TFAOT_ASSIGN(const ValidationResult result, validate_package(program, request));
  TFAOT_TRY(options.html.show_verdict(program, validation_page(result, paths),
                                      validation_result_to_json(result, paths)));
  if (!result.passed()) {
    return fail(Error::at({options.paths.package}, "its predictions are not those of the model"));
  }
  if (!request.record) return {};
  TFAOT_TRY(record_validation(program, request, result));
  say_recorded(options.paths.package, program);
  return {};
}

}  // namespace

std::string allowed_text(const ValidatedOutput& output) {
  const double percent = 100 * share_of_allowed(output);
  return percent == 0 ? "0 %" : percent < 1000 ? fmt::format("{:.2g} %", percent) : "> 999 %";
}

const ValidatedOutput* worst_output(const Validation& validation) {
  const ValidatedOutput* worst = nullptr;
  for (const ValidatedOutput& one : validation.outputs) {
    if (one.counts && (worst == nullptr || is_worse(one, *worst))) worst = &one;
  }
  return worst;
}

report::Table differences_table(const std::vector<ValidatedOutput>& outputs) {
  Table table{.caption = "The largest differences",
              .columns = {{"output", ColumnKind::kCode},
                          {"inputs"},
                          {"predictions"},
                          {"of allowed", ColumnKind::kNumber},
                          {"largest", ColumnKind::kNumber},
                          {"mean", ColumnKind::kNumber},
                          {"relative", ColumnKind::kNumber},
                          {"ULPs", ColumnKind::kNumber},
                          {"not finite", ColumnKind::kNumber},
                          {"where"}}};
  for (const ValidatedOutput& one : outputs) {
    const ArrayDifference& difference = one.difference;
    table.rows.push_back({{one.output},
                          {word_of(one.inputs)},
                          {.text = outcome_text(one), .verdict = verdict_of(one)},
                          {.text = allowed_text(one), .number = shown_percent(one)},
                          amount_cell(difference.largest),
                          amount_cell(difference.mean),
                          amount_cell(relative_difference(difference)),
                          number_cell(static_cast<std::int64_t>(difference.ulps)),
                          number_cell(static_cast<std::int64_t>(difference.nonfinite)),
                          {place_text(one)}});
  }
  return table;
}

report::Page validation_page(const ValidationResult& result, const ValidatedPaths& paths) {
  report::Page page;
  page.kind = "validation";
  page.title = result.manifest.name + " " + result.manifest.version;
  page.heading = "package " + paths.package;
  page.badge = result.passed() ? report::Badge{Verdict::kGood, "predicts as the model does"}
                               : report::Badge{Verdict::kBad, "does not predict as the model does"};
  page.summary = result.manifest.description;
  const std::vector<ValidatedOutput> batches = by_batch(result.outputs);
  page.highlights = highlights_of(result, batches);
  page.sections = {overview(result), outputs_section(result), batches_section(result, batches)};
  return page;
}

ordered_json validation_result_to_json(const ValidationResult& result,
                                       const ValidatedPaths& paths) {
  const auto refused_to_json = [](const RefusedInputs& one) -> ordered_json {
    ordered_json json = {{"inputs", word_of(one.inputs)}, {"rows", one.rows}, {"why", one.why}};
    if (!one.sizes.empty()) json["sizes"] = sizes_to_json(one.sizes);
    return json;
  };
  ordered_json json = {{"kind", "validation"},
                       {"package", paths.package},
                       {"model", paths.model},
                       {"name", result.manifest.name},
                       {"version", result.manifest.version},
                       {"passed", result.passed()},
                       {"format", word_of(result.format)},
                       {"same_model", result.is_its_source}};
  json.update(validation_to_json(result.summary));
  json["skipped_cpu_levels"] = result.skipped_levels;
  json["not_compared"] = not_compared(result);
  json["refused"] = mapped(result.refused, refused_to_json);
  json["batches"] = validated_outputs_to_json(result.outputs);
  return json;
}

std::string validation_summary(const Manifest& manifest) {
  if (!manifest.validation) return "";
  const Validation& validation = *manifest.validation;
  const ValidatedOutput* const worst = worst_output(validation);
  std::string text = fmt::format("predicts as {} does", validation.reference);
  if (worst != nullptr) {
    text += fmt::format(
        "\nworst difference: {} of what is allowed, {} (relative {}), output {}, inputs {}",
        allowed_text(*worst), amount_text(worst->difference.largest),
        amount_text(relative_difference(worst->difference)), worst->output, word_of(worst->inputs));
  }
  text += fmt::format("\nrows {}, {}", fmt::join(validation.rows, ", "),
                      join(validation.cpu_levels, ", "));
  if (validation.sizes.empty()) return text;
  return text + "\nsizes " + join(mapped(validation.sizes, named_sizes_text), "; ");
}

Action add_validate(CLI::App& app) {
  auto options = std::make_shared<ValidateArguments>();
  ValidateRequest& request = options->request;
  add_value(app, "PACKAGE", options->paths.package, kPackageHelp)->required();
  add_value(
      app, "--model PATH", options->paths.model,
      "what it was compiled from: a SavedModel's folder, an ONNX\nfile, a frozen graph, a file "
      "with StableHLO, or a config\nthat names one");
  add_value(app, "--expected FILE", request.expected,
            "instead of a model: its outputs for --inputs, saved from\nthe library that "
            "trained it; a .npz, .npy or .csv file");
  CLI::Option* const bits = app.add_flag(
      "--bits", options->bits,
      "do the bits of a row depend on the batch, its other rows,\nthe CPU level or the "
      "threads? With a model: names the first\noperation that differs");
  bits->option_text(" ");
  add_value(app, "--library FILE", request.library,
            "of an ONNX model: ONNX Runtime's shared library, which\nruns the model [that of "
            "python3's package]");
  add_value(app, "-i,--inputs FILE|random", options->inputs,
            "a .npz, .npy or .csv file, or random [random]");
  add_value(app, "--seed N", request.seed, "of random inputs [1]");
  app.add_flag_callback(
         "--only-these", [options] { options->request.edges = false; },
         "no zeros, ones, large numbers, NaN and other edges")
      ->option_text(" ");
  add_value(app, "--tolerance SHARE", request.tolerance,
            "difference allowed, times an output's largest number\n[1e-5, more for weights in "
            "fewer bits]")
      ->check(amount_rule);
  add_value(app, "--absolute-tolerance NUMBER", request.absolute_tolerance,
            "and added to that [1e-6]")
      ->check(amount_rule);
  app.add_flag("--strict", request.strict, "edge inputs count for the verdict too")
      ->option_text(" ");
  add_value(app, "--signature KEY", request.signature,
            "of a SavedModel [the one that the package was compiled from]");
  app.add_flag("--record", request.record,
               "if it passes, put the figures into the package's manifest")
      ->option_text(" ");
  for (const char* const other : {"--expected", "--library", "--only-these", "--tolerance",
                                  "--absolute-tolerance", "--strict", "--signature"}) {
    bits->excludes(app.get_option(other));
  }
  options->html.add_to(app);
  add_allow_large(app, request.package.allow_large);
  add_engine_program(app, request.engine);
  app.footer(
      R"(Runs the package and the original model on the same inputs, in every compiled batch size, with
padding and in several calls, at each CPU level that this machine can run. Free dimensions have
small, large and prime sizes, or those of your file. The exit code is 1 if a prediction differs
by more than the tolerance, or the model's own rounding.
With --bits, runs the package alone, in batches of up to 64 rows, at each level and in several
threads. The exit code is 1 if a row's numbers differ in a bit.
Examples:
  tfaot validate out --model exports/tagger
  tfaot validate out --model net.onnx --library libonnxruntime.so.1
  tfaot validate area/tagger --model aot_config.yaml --inputs events.npz
  tfaot validate out --inputs events.npz --expected scores.npz
  tfaot validate out --bits
  tfaot validate dist/tfaot-model-tagger-1.0.0-x86_64-linux.tar.zst --model exports/tagger --record)");
  return [options](Program& program) { return validate(*options, program); };
}

}  // namespace tfaot::toolkit
