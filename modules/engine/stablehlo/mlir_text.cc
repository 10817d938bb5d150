// SPDX-License-Identifier: Apache-2.0
#include "stablehlo/mlir_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "stablehlo/mlir_scan.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr const char* kVersionedFunction = "vhlo.func_v1 ";

// The first text in quotes after `at`.
std::string quoted_after(std::string_view text, std::size_t at) {
  const std::size_t start = text.find('"', at);
  if (start == kNowhere) return "";
  const std::size_t end = after_quotes(text, start);
  return std::string(text.substr(start + 1, end - start - 2));
}

// The text that an attribute has: 'key = "value"', or the same in VHLO.
std::string attribute(std::string_view attributes, std::string_view key) {
  const std::size_t found = attributes.find(key);
  if (found == kNowhere) return "";
  const std::size_t value = attributes.find('=', found + key.size());
  return value == kNowhere ? "" : quoted_after(attributes, value);
}

// A path in Python, such as "events['muon'].pt", as a name: its keys, or what it starts with.
std::string name_of_path(std::string_view path) {
  std::string start;
  std::string keys;
  std::size_t at = 0;
  while (at < path.size()) {
    const bool is_key = path[at] == '[' || path[at] == '.' || path[at] == '\'';
    const bool is_quoted = at > 0 && path[at - 1] == '\'';
    const bool is_field = at > 0 && path[at - 1] == '.';
    if (is_key || !is_word(path[at]) || path[at] == '$') {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < path.size() && is_word(path[end]) && path[end] != '.' && path[end] != '$') ++end;
    const std::string_view word = path.substr(at, end - at);
    if (is_quoted || is_field) keys += (keys.empty() ? "" : "_") + std::string(word);
    if (at == 0 && std::isdigit(static_cast<unsigned char>(word.front())) == 0) start = word;
    at = end;
  }
  return keys.empty() ? start : keys;
}

// The locations that have names: '#loc4 = loc("x")' is "#loc4", and what follows the bracket.
class Locations {
 public:
  explicit Locations(std::string_view text) : text_(text) {}

  std::string_view of(std::string_view name) {
    if (!is_read_) read();
    const auto found = named_.find(name);
    return found == named_.end() ? std::string_view() : found->second;
  }

 private:
  void read() {
    constexpr std::string_view kStart = "\n#";
    constexpr std::string_view kEqual = " = loc(";
    for (std::size_t at = text_.find(kStart); at != kNowhere; at = text_.find(kStart, at + 1)) {
      const std::size_t end = after_word(text_, at + kStart.size());
      if (!text_.substr(end).starts_with(kEqual)) continue;
      named_.emplace(text_.substr(at + 1, end - at - 1), text_.substr(end + kEqual.size()));
    }
    is_read_ = true;
  }

  std::string_view text_;
  bool is_read_ = false;
  std::map<std::string_view, std::string_view> named_;
};

// The name of the location behind a value: loc("x"), or loc(#loc4).
std::string location_name(Locations& locations, std::string_view value) {
  const std::size_t found = value.rfind(" loc(");
  if (found == kNowhere) return "";
  std::string_view place = value.substr(found + 5);
  if (place.starts_with('#')) place = locations.of(place.substr(0, place.find(')')));
  if (!place.starts_with('"')) return "";
  const std::string path = quoted_after(place, 0);
  return path.find('/') == std::string::npos ? path : "";  // not of an operation
}

// "arg0" and "0" are names that XLA and JAX make up.
bool is_made_up(std::string_view variable) {
  if (variable.starts_with("arg")) variable.remove_prefix(3);
  return std::ranges::all_of(variable, [](char c) { return c >= '0' && c <= '9'; });
}

// "%x: TYPE {ATTRIBUTES} loc(...)", or a result, which has no "%x: ".
FunctionValue value_in(Locations& locations, std::string_view part) {
  FunctionValue value;
  std::string_view rest = part;
  const std::size_t colon = rest.find(':');
  const std::string_view variable = rest.starts_with('%') ? rest.substr(1, colon - 1) : "";
  if (!variable.empty() && colon != kNowhere) rest = trimmed(rest.substr(colon + 1));
  const std::size_t open = rest.find_first_of("<{ ");
  const std::size_t end = open != kNowhere && rest[open] == '<' ? after_brackets(rest, open) : open;
  value.type = trimmed(rest.substr(0, end));
  value.tensor = tensor_in(value.type);
  const std::string_view attributes = end == kNowhere ? std::string_view() : rest.substr(end);
  value.global_constant = attribute(attributes, "jax.global_constant");
  for (const std::string_view size : split_list(attribute(attributes, "tfaot.sizes"))) {
    value.sizes.emplace_back(size);
  }
  value.name = attribute(attributes, "tfaot.name");
  if (!value.name.empty()) return value;
  std::string path = attribute(attributes, "jax.result_info");
  if (path.starts_with("result")) path.erase(0, std::string_view("result").size());
  value.name = name_of_path(path.empty() ? location_name(locations, part) : path);
  if (value.name.empty() && !is_made_up(variable)) value.name = name_of_path(variable);
  return value;
}

std::vector<FunctionValue> values_in(Locations& locations, std::string_view list) {
  std::vector<FunctionValue> values;
  for (const std::string_view part : split_list(list)) values.push_back(value_in(locations, part));
  return values;
}

// VHLO writes attributes of arguments behind the function: {arg_attrs = #vhlo.array_v1<[...]>}.
void add_attributes(std::string_view attributes, std::string_view key,
                    std::vector<FunctionValue>& values) {
  const std::size_t found = attributes.find(key);
  const std::size_t list = found == kNowhere ? kNowhere : attributes.find('[', found);
  if (list == kNowhere) return;
  const auto parts = split_list(inside(attributes, list));
  Locations none("");
  for (std::size_t i = 0; i < std::min(parts.size(), values.size()); ++i) {
    const FunctionValue of_attributes = value_in(none, fmt::format("x {}", parts[i]));
    if (!of_attributes.name.empty()) values[i].name = of_attributes.name;
    values[i].sizes = of_attributes.sizes;
    values[i].global_constant = of_attributes.global_constant;
  }
}

// Of "vhlo.add_v1": "stablehlo.add".
std::string operation_name(std::string_view dialect, std::string_view name) {
  if (dialect != "vhlo") return fmt::format("{}.{}", dialect, name);
  return fmt::format("stablehlo.{}", name.substr(0, name.rfind("_v")));
}

}  // namespace

bool defines_function(std::string_view text, std::size_t at) {
  const std::string_view head = text.substr(0, at);
  return std::ranges::any_of(
      std::array{"func.func ", "func.func public ", "func.func private ", kVersionedFunction},
      [&](std::string_view start) { return head.ends_with(start); });
}

std::optional<FunctionText> find_function(std::string_view text, std::string_view name) {
  Locations locations(text);
  const std::string called = fmt::format("@{}(", name);
  for (std::size_t at = text.find(called); at != kNowhere; at = text.find(called, at + 1)) {
    if (!defines_function(text, at)) continue;
    FunctionText function;
    const std::size_t open = at + called.size() - 1;
    function.arguments = values_in(locations, inside(text, open));
    std::size_t next = after_brackets(text, open);
    if (text.substr(next).starts_with(" -> ")) {
      next += 4;
      const std::string_view rest = text.substr(next);
      if (rest.starts_with('(')) {
        function.results = values_in(locations, inside(text, next));
        next = after_brackets(text, next);
      } else {
        function.results = {value_in(locations, rest.substr(0, rest.find(" {")))};
      }
    }
    const std::size_t body = text.find('{', next);
    if (text.substr(0, at).ends_with(kVersionedFunction) && body != kNowhere) {
      const std::size_t behind = after_brackets(text, body);
      if (text.substr(behind).starts_with(" {")) {
        const std::string_view attributes = inside(text, behind + 1);
        add_attributes(attributes, "arg_attrs", function.arguments);
        add_attributes(attributes, "res_attrs", function.results);
      }
    }
    return function;
  }
  return std::nullopt;
}

std::vector<std::string> function_names(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t at = text.find('@'); at != kNowhere; at = text.find('@', at + 1)) {
    const std::size_t end = after_word(text, at + 1);
    if (!defines_function(text, at) || !text.substr(end).starts_with('(')) continue;
    names.emplace_back(text.substr(at + 1, end - at - 1));
  }
  return names;
}

std::string without_locations(std::string_view text) {
  constexpr std::string_view kLocation = "loc(";
  std::string kept;
  std::size_t at = 0;
  const auto drop = [&](std::size_t end) {
    kept.append(
        static_cast<std::size_t>(std::count(text.begin() + static_cast<std::ptrdiff_t>(at),
                                            text.begin() + static_cast<std::ptrdiff_t>(end), '\n')),
        '\n');
    at = end;
  };
  while (at < text.size()) {
    const bool starts_word = at == 0 || (!is_word(text[at - 1]) && text[at - 1] != '%' &&
                                         text[at - 1] != '@' && text[at - 1] != '#');
    const bool starts_line = at == 0 || text[at - 1] == '\n';
    if (text[at] == '"') {
      const std::size_t end = after_quotes(text, at);
      kept += text.substr(at, end - at);
      at = end;
    } else if (starts_line && text.substr(at).starts_with("#loc")) {
      const std::size_t open = text.find('(', at);
      drop(open == kNowhere ? text.size() : after_brackets(text, open));
    } else if (starts_word && text.substr(at).starts_with(kLocation)) {
      while (!kept.empty() && kept.back() == ' ') kept.pop_back();
      drop(after_brackets(text, at + kLocation.size() - 1));
    } else {
      kept += text[at++];
    }
  }
  return kept;
}

std::map<std::string, std::int64_t> count_operations(std::string_view text) {
  constexpr std::array<std::string_view, 3> kDialects = {"stablehlo", "chlo", "vhlo"};
  constexpr std::array<std::string_view, 4> kNoOperations = {"func", "return", "call", "constant"};
  std::map<std::string, std::int64_t> counts;
  std::size_t at = 0;
  while (at < text.size()) {
    const bool is_first = at == 0 || text[at - 1] == ' ' || text[at - 1] == '"';
    const std::string_view* dialect = nullptr;
    for (const std::string_view& one : kDialects) {
      const bool is_named = text.substr(at).starts_with(one) && at + one.size() < text.size() &&
                            text[at + one.size()] == '.';
      if (is_first && is_named) dialect = &one;
    }
    if (dialect == nullptr) {
      const bool is_operation = text[at] == '"' && (text.substr(at + 1).starts_with("vhlo.") ||
                                                    text.substr(at + 1).starts_with("stablehlo."));
      at = text[at] == '"' && !is_operation ? after_quotes(text, at) : at + 1;
      continue;
    }
    std::size_t end = at + dialect->size() + 1;
    const std::size_t start = end;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string name = operation_name(*dialect, text.substr(start, end - start));
    const std::string_view last = std::string_view(name).substr(name.find('.') + 1);
    if (std::ranges::find(kNoOperations, last) == kNoOperations.end()) ++counts[name];
    at = end;
    if (at < text.size() && text[at] == '"') ++at;  // of the operation's name
  }
  return counts;
}

}  // namespace tfaot::toolkit::engine
