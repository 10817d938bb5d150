// SPDX-License-Identifier: Apache-2.0
#include "pages/predictions_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "pages/page_parts.h"
#include "tfaot/arrays/csv.h"
#include "tfaot/records/dtype.h"
#include "tfaot/report/quantities.h"

namespace tfaot::toolkit {
namespace {

using report::Bars;
using report::Cell;
using report::ColumnKind;
using report::Section;
using report::Table;

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

}  // namespace

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

}  // namespace tfaot::toolkit
