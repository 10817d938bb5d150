// SPDX-License-Identifier: Apache-2.0
#include "text/predictions.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/text_table.h"
#include "tfaot/arrays/csv.h"
#include "tfaot/base/printable.h"

namespace tfaot::toolkit {
namespace {

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

}  // namespace

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

}  // namespace tfaot::toolkit
