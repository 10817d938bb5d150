// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/commands.h"
#include "options/html_option.h"
#include "options/shared_options.h"
#include "pages/page_parts.h"
#include "text/describe.h"
#include "text/text_table.h"
#include "tfaot/arrays/array.h"
#include "tfaot/arrays/csv.h"
#include "tfaot/base/printable.h"
#include "tfaot/records/dtype.h"
#include "tfaot/report/page.h"
#include "tfaot/report/quantities.h"
#include "tfaot/workflow/run_package.h"

namespace tfaot::toolkit {
namespace {

using report::Bars;
using report::Cell;
using report::ColumnKind;
using report::Section;
using report::Table;

// The predictions of `tfaot run` as a table.

constexpr std::int64_t kTableRows = 20;
constexpr std::size_t kTableNumbers = 8;

std::vector<std::string> table_row(std::string first, const std::vector<std::string>& cells) {
  std::vector<std::string> row = {std::move(first)};
  for (const std::string& cell : cells) {
    if (row.size() == kTableNumbers + 1) break;
    row.push_back(shown(cell));
  }
  return row;
}

// A line for each row, a column for each element. Of many rows or columns only the first ones; then
// the last line says what is left out. REQUIRES: the arrays have the same number of rows.
std::string predictions_table(const std::vector<Array>& outputs) {
  std::vector<std::string> names;
  for (const TensorSpec& tensor : tensors_of(outputs)) {
    const std::vector<std::string> more = column_names(tensor);
    names.insert(names.end(), more.begin(), more.end());
  }
  const std::int64_t rows = outputs.empty() ? 0 : outputs.front().shape.front();
  std::vector<std::vector<std::string>> table = {table_row("row", names)};
  for (std::int64_t row = 0; row < std::min(rows, kTableRows); ++row) {
    table.push_back(table_row(std::to_string(row), csv_cells(outputs, row)));
  }
  std::string text = text_table(table);
  if (rows > kTableRows || names.size() > kTableNumbers) {
    text +=
        fmt::format("... of {} rows and {} columns; '-o FILE' writes all\n", rows, names.size());
  }
  return text;
}

// What `tfaot run --html` shows.

constexpr std::int64_t kShownRows = 100;
constexpr std::size_t kShownColumns = 12;
constexpr std::size_t kBins = 20;

template <class Number>
std::vector<double> numbers_as(const std::string& bytes) {
  std::vector<double> numbers;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Number)) {
    Number number{};
    std::memcpy(&number, bytes.data() + at, sizeof number);
    numbers.push_back(static_cast<double>(number));
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
      if (table.columns.size() <= kShownColumns) table.columns.push_back({name});
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

report::Page predictions_page(const RunResult& result) {
  report::Page page;
  page.kind = "predictions";
  page.title = result.model + " " + result.version;
  page.highlights = {{"rows", report::grouped_digits(result.rows), ""},
                     {"CPU level", result.cpu_level, ""},
                     {"outputs", std::to_string(result.outputs.size()), ""}};
  Section outputs;
  outputs.title = "Outputs";
  outputs.blocks.emplace_back(statistics_table(result.outputs));
  for (const Array& output : result.outputs) {
    Bars bars = histogram(output);
    if (!bars.bars.empty()) outputs.blocks.emplace_back(std::move(bars));
  }
  page.sections.push_back(std::move(outputs));
  Section rows;
  rows.title = "Rows";
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
