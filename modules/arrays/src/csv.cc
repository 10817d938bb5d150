// SPDX-License-Identifier: Apache-2.0
#include "tfaot/arrays/csv.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <type_traits>

#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kShownColumns = 8;

// The next line without its end, and the rest.
std::string_view take_line(std::string_view& rest) {
  const std::size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view without_blanks(std::string_view cell) {
  while (!cell.empty() && (cell.front() == ' ' || cell.front() == '\t')) cell.remove_prefix(1);
  while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\t')) cell.remove_suffix(1);
  return cell;
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (;;) {
    const std::size_t end = line.find(',');
    cells.push_back(without_blanks(line.substr(0, end)));
    if (end == std::string_view::npos) return cells;
    line.remove_prefix(end + 1);
  }
}

template <class T>
std::optional<T> parsed(std::string_view cell) {
  using Text = std::conditional_t<kIsReal<T> && sizeof(T) == 2, double, T>;
  if (cell.starts_with('+')) cell.remove_prefix(1);
  Text value{};
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (end != cell.data() + cell.size() || cell.empty()) return std::nullopt;
  // Too small a number is 0, and too large a one is no number of this type.
  if constexpr (!std::is_same_v<T, Text>) {
    const T rounded(value);
    const bool too_large = std::isfinite(value) && !std::isfinite(rounded);
    return error != std::errc() || too_large ? std::nullopt : std::optional(rounded);
  } else if constexpr (std::is_same_v<T, float>) {
    if (error == std::errc()) return value;
    const auto wider = parsed<double>(cell);
    if (wider && std::isfinite(static_cast<float>(*wider))) return static_cast<float>(*wider);
    return std::nullopt;
  } else {
    return error == std::errc() ? std::optional(value) : std::nullopt;
  }
}

std::optional<bool> parsed_bool(std::string_view cell) {
  if (cell == "1" || cell == "true" || cell == "True") return true;
  if (cell == "0" || cell == "false" || cell == "False") return false;
  return std::nullopt;
}

template <class T>
bool append(std::string& bytes, const std::optional<T>& value) {
  if (!value) return false;
  bytes.append(reinterpret_cast<const char*>(&*value), sizeof(T));
  return true;
}

// fmt knows the shortest text of a float and a double only.
template <class Half>
std::string shortest(Half number) {
  for (int digits = 1; digits <= std::numeric_limits<Half>::max_digits10; ++digits) {
    const auto read = parsed<double>(fmt::format("{:.{}g}", float{number}, digits));
    if (read && Half(*read).bits() == number.bits()) return fmt::format("{}", *read);
  }
  return fmt::format("{}", float{number});  // NaN of any bits
}

std::string cell_at(const Array& array, std::size_t element) {
  return visit_dtype(array.dtype, [&]<class T>(ElementType<T>) -> std::string {
    const auto number = number_at<StoredAs<T>>(array.bytes, element);
    if constexpr (std::is_same_v<T, bool>) {
      return number == 0 ? "0" : "1";
    } else if constexpr (kIsReal<T> && sizeof(T) == 2) {
      return shortest(number);
    } else {
      return fmt::format("{}", number);
    }
  });
}

// The columns that are wanted, by their position in the file.
class Columns {
 public:
  static Result<Columns> of(std::string_view line, const std::vector<TensorSpec>& tensors,
                            const std::string& where) {
    std::map<std::string_view, std::size_t> positions;
    const std::vector<std::string_view> names = cells_of(line);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!positions.emplace(names[i], i).second) {
        return fail(Error::at({where, 1}, fmt::format("two columns '{}'", shown(names[i]))));
      }
    }
    Columns columns;
    columns.count_ = names.size();
    for (const TensorSpec& tensor : tensors) {
      for (const std::string& name : column_names(tensor)) {
        auto found = positions.find(name);
        if (found == positions.end() && row_elements(tensor) == 1) {
          found = positions.find(tensor.name);
        }
        if (found == positions.end()) return fail(missing(name, names, where));
        columns.positions_.push_back(found->second);
      }
    }
    return columns;
  }

  std::size_t count() const { return count_; }
  // In the order of the arrays and their elements.
  const std::vector<std::size_t>& positions() const { return positions_; }

 private:
  static Error missing(const std::string& name, const std::vector<std::string_view>& names,
                       const std::string& where) {
    std::vector<std::string> found;
    for (const std::string_view one : names) {
      if (found.size() == kShownColumns) {
        found.emplace_back("...");
        break;
      }
      found.push_back(shown(one));
    }
    return Error::at({where, 1}, fmt::format("there is no column '{}'", name))
        .note("columns: " + join(found, ", "))
        .note(
            "the first line names the columns: the input's name, or name[0], name[1], ... if a "
            "row of it has several numbers");
  }

  std::size_t count_ = 0;
  std::vector<std::size_t> positions_;
};

Status append_row(std::string_view line, const Columns& columns,
                  const std::vector<TensorSpec>& tensors, std::vector<Array>& arrays,
                  const Location& where) {
  const std::vector<std::string_view> cells = cells_of(line);
  if (cells.size() != columns.count()) {
    return fail(
        Error::at(where, fmt::format("{} cells, but {} columns", cells.size(), columns.count())));
  }
  auto position = columns.positions().begin();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (std::uint64_t element = row_elements(tensors[i]); element > 0; --element, ++position) {
      const std::string_view cell = cells[*position];
      if (append_number(arrays[i].bytes, tensors[i].dtype, cell)) continue;
      return fail(
          Error::at(where, fmt::format("'{}', for input '{}', is not a number of the type "
                                       "{}",
                                       shown(cell), tensors[i].name, word_of(tensors[i].dtype))));
    }
    ++arrays[i].shape[0];
  }
  return {};
}

}  // namespace

bool append_number(std::string& bytes, DType dtype, std::string_view text) {
  return visit_dtype(dtype, [&]<class T>(ElementType<T>) {
    if constexpr (std::is_same_v<T, bool>) {
      return append(bytes, parsed_bool(text));
    } else {
      return append(bytes, parsed<T>(text));
    }
  });
}

std::vector<std::string> column_names(const TensorSpec& tensor) {
  std::vector<std::string> names = {tensor.name};
  for (const std::int64_t dimension : tensor.row_shape) {
    std::vector<std::string> longer;
    for (const std::string& name : names) {
      for (std::int64_t i = 0; i < dimension; ++i) longer.push_back(fmt::format("{}[{}]", name, i));
    }
    names = std::move(longer);
  }
  return names;
}

Result<std::vector<Array>> csv_from_text(std::string_view text,
                                         const std::vector<TensorSpec>& tensors,
                                         const std::string& where) {
  std::string_view rest = text;
  if (rest.starts_with("\xEF\xBB\xBF")) rest.remove_prefix(3);  // spreadsheets write it
  TFAOT_ASSIGN(const Columns columns, Columns::of(take_line(rest), tensors, where));
  std::vector<Array> arrays;
  for (const TensorSpec& tensor : tensors) arrays.push_back(make_array(tensor, 0));
  for (int line = 2; !rest.empty(); ++line) {
    const std::string_view row = take_line(rest);
    if (without_blanks(row).empty() && rest.empty()) break;  // an empty last line
    TFAOT_TRY(append_row(row, columns, tensors, arrays, {where, line}));
  }
  return arrays;
}

std::vector<TensorSpec> tensors_of(const std::vector<Array>& arrays) {
  return mapped(arrays, [&](const Array& array) {
    return TensorSpec{array.name, array.dtype, {array.shape.begin() + 1, array.shape.end()}};
  });
}

std::vector<std::string> csv_cells(const std::vector<Array>& arrays, std::int64_t row) {
  std::vector<std::string> cells;
  for (const Array& array : arrays) {
    std::size_t elements = 1;
    for (std::size_t i = 1; i < array.shape.size(); ++i) {
      elements *= static_cast<std::size_t>(array.shape[i]);
    }
    for (std::size_t i = 0; i < elements; ++i) {
      cells.push_back(cell_at(array, static_cast<std::size_t>(row) * elements + i));
    }
  }
  return cells;
}

Result<std::string> csv_to_text(const std::vector<Array>& arrays) {
  std::vector<std::string> names;
  for (const TensorSpec& tensor : tensors_of(arrays)) {
    if (tensor.name.find_first_of(",\"\r\n") != std::string::npos) {
      return fail(Error(fmt::format("the name '{}' cannot be that of a column", shown(tensor.name)))
                      .note("write a .npz"));
    }
    const std::vector<std::string> more = column_names(tensor);
    names.insert(names.end(), more.begin(), more.end());
  }
  std::string text = join(names, ",") + "\n";
  const std::int64_t rows = arrays.empty() ? 0 : arrays.front().shape[0];
  for (std::int64_t row = 0; row < rows; ++row) text += join(csv_cells(arrays, row), ",") + "\n";
  return text;
}

}  // namespace tfaot::toolkit
