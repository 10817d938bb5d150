// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string_view>

#include "tfaot/base/printable.h"

namespace tfaot::toolkit {
namespace {

// Counts brackets outside of strings. The parser could count levels only with a callback, and then
// its time grows with the square of a list's length.
bool is_nested_too_deeply(std::string_view text) {
  int depth = 0;
  bool is_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') is_string = !is_string;
    if (is_string) {
      if (c == '\\') ++i;
    } else if (c == '[' || c == '{') {
      if (++depth > kMostNesting) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

// The JSON library's message, without its error numbers.
std::string words_of(const std::exception& fault) {
  const std::string text = fault.what();
  const std::size_t end =
      text.starts_with("[json.exception.") ? text.find("] ") : std::string::npos;
  return end == std::string::npos ? text : text.substr(end + 2);
}

}  // namespace

Result<JsonReader> JsonReader::member(const std::string& key) const {
  if (!value_->is_object()) return failed("expected an object");
  const auto found = value_->find(key);
  if (found == value_->end()) return failed(fmt::format("the key '{}' is missing", key));
  return at(*found, place_.empty() ? key : place_ + "." + key);
}

Result<std::vector<JsonReader>> JsonReader::elements(std::size_t most) const {
  if (!value_->is_array()) return failed("expected a list");
  if (value_->size() > most) {
    return failed(fmt::format("{} items, but at most {} are allowed", value_->size(), most));
  }
  std::vector<JsonReader> readers;
  readers.reserve(value_->size());
  for (const nlohmann::json& element : *value_) {
    readers.push_back(at(element, fmt::format("{}[{}]", place_, readers.size())));
  }
  return readers;
}

Result<std::string> JsonReader::text() const {
  if (!value_->is_string()) return failed("expected a string");
  return value_->get<std::string>();
}

Result<std::int64_t> JsonReader::number() const {
  // Positive numbers are stored without a sign.
  const bool too_large =
      value_->is_number_unsigned() &&
      value_->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  if (!value_->is_number_integer() || too_large) return failed("expected a whole number");
  return value_->get<std::int64_t>();
}

Result<double> JsonReader::real() const {
  if (!value_->is_number()) return failed("expected a number");
  return value_->get<double>();
}

Result<bool> JsonReader::flag() const {
  if (!value_->is_boolean()) return failed("expected true or false");
  return value_->get<bool>();
}

tl::unexpected<Error> JsonReader::failed(const std::string& message) const {
  return fail(Error::at({*file_, 0, 0}, place_.empty() ? message : place_ + ": " + message));
}

Result<nlohmann::json> parse_json(const std::string& text, const std::string& file) {
  using nlohmann::json;
  // nlohmann's parser takes it, and those of CMake and Python do not.
  if (text.starts_with("\xEF\xBB\xBF")) {
    return fail(Error::at({file, 1, 1}, "not valid JSON")
                    .note("it begins with a byte order mark: save it as UTF-8 without one"));
  }
  if (is_nested_too_deeply(text)) {
    return fail(Error::at({file, 0, 0}, "not valid JSON")
                    .note(fmt::format("nested deeper than {} levels", kMostNesting)));
  }
  try {
    return json::parse(text);
  } catch (const json::parse_error& e) {
    const std::size_t end = std::min(text.size(), e.byte == 0 ? 0 : e.byte - 1);
    const std::string before = text.substr(0, end);
    const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    return fail(Error::at({file, static_cast<int>(line), static_cast<int>(end - line_start) + 1},
                          "not valid JSON")
                    .note(shown(words_of(e), 300)));
  } catch (const std::exception& e) {
    return fail(Error::at({file, 0, 0}, "not valid JSON").note(words_of(e)));
  }
}
}  // namespace tfaot::toolkit
