// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "options/shared_options.h"
#include "pages/pages.h"
#include "tfaot/arrays/array.h"
#include "tfaot/arrays/csv.h"
#include "tfaot/base/printable.h"
#include "tfaot/records/dtype.h"
#include "tfaot/records/free_sizes.h"
#include "tfaot/report/page.h"
#include "tfaot/workflow/run_package.h"

namespace tfaot::toolkit {
namespace {

using report::Bars;
using report::Cell;
using report::ColumnKind;
using report::Section;
using report::Table;
using report::Where;

// The page of `tfaot run`.

// Of the text.
constexpr std::size_t kTextRows = 20;
constexpr std::size_t kTextColumns = 8;
// Of the page.
constexpr std::int64_t kShownRows = 100;
constexpr std::size_t kShownColumns = 12;
constexpr std::size_t kBins = 20;

template <class Number>
std::vector<double> numbers_as(const std::string& bytes) {
  std::vector<double> numbers;
  for (std::size_t i = 0; i < bytes.size() / sizeof(Number); ++i) {
    numbers.push_back(static_cast<double>(number_at<Number>(bytes, i)));
  }
  return numbers;
}

std::vector<double> numbers_of(const Array& array) {
  return visit_dtype(array.dtype,
                     [&]<class T>(ElementType<T>) { return numbers_as<StoredAs<T>>(array.bytes); });
}

// Of the finite numbers of an output.
struct Distribution {
  std::size_t finite = 0;
  std::size_t others = 0;  // NaN and infinities
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();
  double mean = 0;
};

Distribution distribution_of(const std::vector<double>& numbers) {
  Distribution found;
  double sum = 0;
  for (const double number : numbers) {
    if (!std::isfinite(number)) {
      ++found.others;
      continue;
    }
    ++found.finite;
    found.least = std::min(found.least, number);
    found.most = std::max(found.most, number);
    sum += number;
  }
  if (found.finite > 0) found.mean = sum / static_cast<double>(found.finite);
  return found;
}

Cell real_cell(double number) { return {.text = fmt::format("{:.6g}", number), .number = number}; }

Table statistics_table(const std::vector<Array>& outputs) {
  Table table{.caption = "All numbers of each output",
              .columns = {{"output", ColumnKind::kCode},
                          {"type"},
                          {"shape"},
                          {"least", ColumnKind::kNumber},
                          {"mean", ColumnKind::kNumber},
                          {"largest", ColumnKind::kNumber},
                          {"NaN or infinite", ColumnKind::kNumber}}};
  for (const Array& output : outputs) {
    const Distribution found = distribution_of(numbers_of(output));
    const bool any = found.finite > 0;
    table.rows.push_back({{output.name},
                          {word_of(output.dtype)},
                          {array_shape_text(output.shape)},
                          any ? real_cell(found.least) : Cell{},
                          any ? real_cell(found.mean) : Cell{},
                          any ? real_cell(found.most) : Cell{},
                          number_cell(static_cast<std::int64_t>(found.others))});
  }
  return table;
}

// Whole numbers that are close together have a bar each.
Bars histogram(const Array& output) {
  const std::vector<double> numbers = numbers_of(output);
  const Distribution found = distribution_of(numbers);
  Bars bars{.caption = fmt::format("How often each size of number comes in '{}'", output.name)};
  const double range = found.most - found.least;
  if (found.finite == 0 || !(range > 0) || !std::isfinite(range)) return bars;
  const bool one_by_one = !is_real(output.dtype) && range < static_cast<double>(kBins);
  const std::size_t bins = one_by_one ? static_cast<std::size_t>(range) + 1 : kBins;
  const double width = one_by_one ? 1 : range / static_cast<double>(kBins);
  std::vector<std::int64_t> counts(bins);
  for (const double number : numbers) {
    if (!std::isfinite(number)) continue;
    const auto bin = static_cast<std::size_t>((number - found.least) / width);
    ++counts[std::min(bin, bins - 1)];
  }
  for (std::size_t i = 0; i < bins; ++i) {
    const double start = found.least + static_cast<double>(i) * width;
    bars.bars.push_back({fmt::format("{}{:.4g}", one_by_one ? "" : "from ", start),
                         static_cast<double>(counts[i]), report::grouped_digits(counts[i])});
  }
  return bars;
}

Table rows_table(const RunResult& result) {
  Table table{.caption = "Predictions", .columns = {{"row", ColumnKind::kNumber}}};
  for (const TensorSpec& tensor : tensors_of(result.outputs)) {
    for (const std::string& name : column_names(tensor)) {
      const Where where = table.columns.size() <= kTextColumns ? Where::kBoth : Where::kPage;
      if (table.columns.size() <= kShownColumns) table.columns.push_back({name, {}, where});
    }
  }
  for (std::int64_t row = 0; row < std::min(result.rows, kShownRows); ++row) {
    std::vector<Cell> cells = {number_cell(row)};
    for (std::string& cell : csv_cells(result.outputs, row)) {
      if (cells.size() < table.columns.size()) cells.push_back({std::move(cell)});
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

// The first rows and columns; the last line says what is left out.
std::string predictions_text(const RunResult& result) {
  Table table = rows_table(result);
  table.empty.clear();
  std::size_t columns = 0;
  for (const TensorSpec& tensor : tensors_of(result.outputs)) {
    columns += column_names(tensor).size();
  }
  const bool is_cut = table.rows.size() > kTextRows || columns > kTextColumns;
  table.rows.resize(std::min(table.rows.size(), kTextRows));
  std::string left_out;
  for (const Array& output : result.ragged) {
    left_out += fmt::format("... rows of '{}' have different sizes; '-o FILE.npz' writes them\n",
                            shown(output.name));
  }
  return report::text_of(table) + left_out +
         (is_cut ? fmt::format("... of {} rows and {} columns; '-o FILE' writes all\n", result.rows,
                               columns)
                 : "");
}

report::Page predictions_page(const RunResult& result) {
  const std::vector<Array> all = all_outputs(result);
  report::Page page;
  page.kind = "predictions";
  page.title = result.model + " " + result.version;
  page.highlights = {{"rows", report::grouped_digits(result.rows), ""},
                     {"CPU level", result.cpu_level, ""},
                     {"outputs", std::to_string(all.size()), ""}};
  Section outputs{"Outputs", {}, {statistics_table(all)}};
  for (const Array& output : all) {
    Bars bars = histogram(output);
    if (!bars.bars.empty()) outputs.blocks.emplace_back(std::move(bars));
  }
  page.sections.push_back(std::move(outputs));
  Section rows{"Rows", {}, {}};
  if (result.rows > kShownRows) {
    rows.blocks.emplace_back(report::Text{
        fmt::format("The first {} of {} rows.", kShownRows, report::grouped_digits(result.rows))});
  }
  rows.blocks.emplace_back(rows_table(result));
  page.sections.push_back(std::move(rows));
  return page;
}

struct RunArguments {
  std::string package;
  std::string inputs;
  std::string output;
  std::optional<std::int64_t> rows;
  std::optional<std::uint64_t> seed;
  HtmlOption html;
  RunRequest request;
};

Result<InputSource> input_source(const RunArguments& options, const Program& program) {
  TFAOT_ASSIGN(InputSource source, named_inputs("run", options.inputs, program));
  const bool filling = source.file.empty();
  const bool random = filling && source.filling == Filling::kRandom;
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
  const auto output_json = [](const Array& array) -> nlohmann::ordered_json {
    return {{"name", array.name}, {"dtype", word_of(array.dtype)}, {"shape", array.shape}};
  };
  nlohmann::ordered_json json = {{"model", result.model},
                                 {"version", result.version},
                                 {"cpu_level", result.cpu_level},
                                 {"rows", result.rows},
                                 {"outputs", mapped(all_outputs(result), output_json)}};
  if (result.is_ragged) json["ragged"] = true;
  for (const DimensionSize& one : result.sizes) json["sizes"][one.name] = one.size;
  if (!file.empty()) json["file"] = file;
  return json;
}

Status run(const RunArguments& options, Program& program) {
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
  if (options.output.empty()) {
    program.console.print(program.json ? json_text(json) : predictions_text(result));
  }
  if (options.html.given()) {
    TFAOT_TRY(options.html.write(program, predictions_page(result), json));
  }
  if (options.output.empty()) return {};
  const std::string sizes = result.is_ragged ? "one for each row" : named_sizes_text(result.sizes);
  show_done(
      program, json,
      fmt::format("output     {}\nmodel      {} {}\nrows       {}\n{}CPU level  {}\n",
                  options.output, result.model, result.version, result.rows,
                  sizes.empty() ? "" : fmt::format("sizes      {}\n", sizes), result.cpu_level));
  return {};
}

}  // namespace

Action add_run(CLI::App& app) {
  auto options = std::make_shared<RunArguments>();
  RunRequest& request = options->request;
  add_value(app, "PACKAGE", options->package, kPackageHelp)->required();
  add_value(app, "-i,--inputs FILE|WORD", options->inputs,
            "a .npz, .npy or .csv file; or " + join(words_of<Filling>(), ", "))
      ->required();
  add_value(app, "-o,--output FILE", options->output,
            "the .npz, .npy or .csv file to write [a table on the terminal]");
  add_value(app, "--rows N", options->rows, "rows of inputs that are made [1]")
      ->check(not_negative);
  add_value(app, "--seed N", options->seed, "of random inputs [1]");
  add_dimensions(app, request.dimensions,
                 "size of a free dimension [that of the file's arrays; else\nthe largest]; may be "
                 "repeated");
  add_value(app, "--cpu-level LEVEL", request.options.cpu_level,
            "run the code of this level [the best one for this CPU]");
  add_repeated(app, "--batch-rule ROWS:SIZES", request.options.batch_rules,
               "how a batch is composed: 5:2,4 runs 5 rows as 2 and 4; may be repeated");
  add_flag(app, "--json", "print JSON instead: what ran, without the numbers");
  options->html.add_to(app);
  add_allow_large(app, request.package.allow_large);
  app.footer(
      R"(Arrays are found by the names of the model's inputs, which 'tfaot info' shows; one in a .npy
is the only input. Links the code once, with 'ld', and keeps it in the cache (TFAOT_CACHE_DIR).
Examples:
  tfaot run area/tagger --inputs events.npz -o scores.npz
  tfaot run out --inputs random --rows 3)");
  return [options](Program& program) { return run(*options, program); };
}

}  // namespace tfaot::toolkit
