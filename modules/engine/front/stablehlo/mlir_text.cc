// SPDX-License-Identifier: Apache-2.0
#include "front/stablehlo/mlir_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "absl/strings/ascii.h"
#include "compiler/hlo/constant_calls.h"
#include "compiler/hlo/conversions.h"
#include "compiler/hlo/lowering.h"
#include "front/stablehlo/read_stablehlo.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr std::size_t kNowhere = std::string_view::npos;

// True for characters of names and numbers.
bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '$';
}

// After the name or number at `at`.
std::size_t after_word(std::string_view text, std::size_t at) {
  while (at < text.size() && is_word(text[at])) ++at;
  return at;
}

// After the text in quotes that starts at `at`.
std::size_t after_quotes(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

// After the bracket that closes the one at `at`.
std::size_t after_brackets(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = after_quotes(text, at);
      continue;
    }
    const bool is_arrow = c == '>' && at > 0 && text[at - 1] == '-';
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if ((c == ')' || c == ']' || c == '}' || c == '>') && !is_arrow && --depth == 0) return at + 1;
    ++at;
  }
  return text.size();
}

// The text between the brackets at `at`.
std::string_view inside(std::string_view text, std::size_t at) {
  const std::size_t end = after_brackets(text, at);
  return end < at + 2 ? std::string_view() : text.substr(at + 1, end - at - 2);
}

// The parts between the commas that are in no brackets.
std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t start = 0;
  std::size_t at = 0;
  const auto add = [&](std::size_t end) {
    const std::string_view part = absl::StripAsciiWhitespace(text.substr(start, end - start));
    if (!part.empty()) parts.push_back(part);
    start = end + 1;
  };
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = after_quotes(text, at);
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      at = after_brackets(text, at);
    } else {
      if (c == ',') add(at);
      ++at;
    }
  }
  add(text.size());
  return parts;
}

// "f32" for "!vhlo.f32_v1".
std::string element_name(std::string_view text) {
  constexpr std::string_view kVersioned = "!vhlo.";
  if (!text.starts_with(kVersioned)) return std::string(text);
  text.remove_prefix(kVersioned.size());
  text = text.substr(0, text.rfind("_v"));
  return text == "bool" ? "i1" : std::string(text);
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// `rest`: what follows the sizes, to the end of the text.
std::optional<std::vector<std::int64_t>> sizes_before(std::string_view type,
                                                      std::string_view& rest) {
  const std::size_t open = type.find('<');
  const std::string_view head = type.substr(0, open);
  if (open == kNowhere || (head != "tensor" && head != "!vhlo.tensor_v1")) return std::nullopt;
  rest = type.substr(open + 1);
  std::vector<std::int64_t> sizes;
  while (!rest.empty() && (rest.front() == '?' || is_digit(rest.front()))) {
    std::int64_t size = -1;
    const char* end = rest.data() + 1;
    if (rest.front() != '?') {
      const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), size);
      if (read.ec != std::errc()) return std::nullopt;
      end = read.ptr;
    }
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (!rest.starts_with('x')) return std::nullopt;
    rest.remove_prefix(1);
    sizes.push_back(size);
  }
  return sizes;
}

// The sizes of "tensor<?x16xELEMENT>", with -1 for "?". Nothing if the type is not a tensor with
// plain sizes.
std::optional<std::vector<std::int64_t>> sizes_in(std::string_view type) {
  std::string_view rest;
  return sizes_before(type, rest);
}

// Nothing if the type is not a tensor with plain sizes and elements.
std::optional<TensorText> tensor_in(std::string_view type) {
  std::string_view rest;
  auto sizes = sizes_before(type, rest);
  if (!sizes) return std::nullopt;
  const std::size_t open = type.find('<');
  const std::size_t taken = type.size() - open - 1 - rest.size();
  const std::string_view inner = inside(type, open);
  TensorText tensor{std::move(*sizes), element_name(inner.substr(std::min(inner.size(), taken)))};
  if (!std::ranges::all_of(tensor.element, is_word)) return std::nullopt;
  return tensor;
}

// More than `most` is all the same.
std::int64_t elements_of_type(std::string_view type, std::int64_t most) {
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes_in(type).value_or(std::vector<std::int64_t>())) {
    if (size == 0) return 0;
    if (size > 0) elements = size > most / elements ? most + 1 : elements * size;
    if (elements > most) break;
  }
  return elements;
}

// The part that starts with a type of a tensor; empty if there is none.
std::string_view tensor_at(std::string_view text, std::size_t at) {
  const std::string_view type = text.substr(std::min(at, text.size()));
  return type.starts_with("tensor<") || type.starts_with("!vhlo.tensor_v1<") ? type : "";
}

// Elements that a constant has and its text does not.
std::int64_t made_elements(std::string_view text, std::size_t dense) {
  const std::size_t end = after_brackets(text, text.find('<', dense));
  constexpr std::string_view kColon = " : ";
  if (!text.substr(end).starts_with(kColon)) return 0;
  const std::int64_t all = elements_of_type(text.substr(end + kColon.size()), kMostTensorElements);
  return std::max<std::int64_t>(0, all - static_cast<std::int64_t>(end - dense));
}

constexpr const char* kVersionedFunction = "vhlo.func_v1 ";

// True if the name after '@' at `at` is that of a function that is defined there.
bool defines_function(std::string_view text, std::size_t at) {
  const std::string_view head = text.substr(0, at);
  return std::ranges::any_of(
      std::array{"func.func ", "func.func public ", "func.func private ", kVersionedFunction},
      [&](std::string_view start) { return head.ends_with(start); });
}

struct TextFunction {
  std::int64_t lines = 0;
  std::vector<std::string_view> called;
};

// The functions of a text, and the names of functions in them.
std::map<std::string_view, TextFunction> functions_in(std::string_view text) {
  std::map<std::string_view, TextFunction> functions;
  TextFunction* inside = nullptr;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n' && inside != nullptr) ++inside->lines;
    const bool is_quoted = text[at] == '"';
    if (!is_quoted && text[at] != '@') continue;
    const std::size_t end = is_quoted ? after_quotes(text, at) : after_word(text, at + 1);
    const std::string_view name = text.substr(at + 1, end - at - (is_quoted ? 2 : 1));
    if (!is_quoted && defines_function(text, at)) {
      inside = &functions[name];
    } else if (inside != nullptr && (!is_quoted || text.substr(0, at).ends_with("string_v1<"))) {
      inside->called.push_back(name);
    }
    at = end - 1;
  }
  return functions;
}

// Follows the calls of one function after the other.
class Calls {
 public:
  Calls(const std::string& file, std::string_view text)
      : file_(file), functions_(functions_in(text)) {}

  Status check() {
    for (const auto& [name, function] : functions_) TFAOT_TRY(follow(name, 0));
    return {};
  }

 private:
  Result<std::int64_t> follow(std::string_view name, int depth) {
    const auto known = written_out_.find(name);
    if (known != written_out_.end()) {
      if (known->second >= 0) return known->second;
      return fail(Error::at({file_}, fmt::format("the function '{}' calls itself", name))
                      .note("a loop is an operation 'stablehlo.while'"));
    }
    if (depth > kMostNestedCalls) {
      return fail(Error::at(
          {file_}, fmt::format("more than {} functions call each other", kMostNestedCalls)));
    }
    written_out_[name] = -1;
    const TextFunction& function = functions_.at(name);
    std::int64_t lines = function.lines;
    for (const std::string_view called : function.called) {
      if (!functions_.contains(called)) continue;
      TFAOT_ASSIGN(const std::int64_t more, follow(called, depth + 1));
      lines += more;
      if (lines > kMostWrittenOperations) {
        return fail(Error::at(
            {file_},
            fmt::format("with its calls written out, the function '{}' has more than {} operations",
                        name, kMostWrittenOperations)));
      }
    }
    return written_out_[name] = lines;
  }

  const std::string& file_;
  std::map<std::string_view, TextFunction> functions_;
  std::map<std::string_view, std::int64_t> written_out_;  // -1: not yet
};

// The place at which a text has too much of something.
struct Excess {
  std::size_t at = 0;
  std::string what;
};

std::optional<Excess> excess_in(std::string_view text) {
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool is_arrow = c == '>' && at > 0 && text[at - 1] == '-';
    if (c == '"') {
      at = after_quotes(text, at) - 1;
    } else if (c == '/' && text.substr(at).starts_with("//")) {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      if (++depth > kMostBrackets) {
        return Excess{at, fmt::format("has more than {} brackets in each other", kMostBrackets)};
      }
    } else if (c == ')' || c == ']' || c == '}' || (c == '>' && !is_arrow)) {
      --depth;
    }
    if (elements_of_type(tensor_at(text, at), kMostTensorElements) > kMostTensorElements) {
      return Excess{at, fmt::format("has a tensor of more than {} elements", kMostTensorElements)};
    }
  }
  return std::nullopt;
}

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

// The name of the location after a value: loc("x"), or loc(#loc4).
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
  if (!variable.empty() && colon != kNowhere)
    rest = absl::StripAsciiWhitespace(rest.substr(colon + 1));
  const std::size_t open = rest.find_first_of("<{ ");
  const std::size_t end = open != kNowhere && rest[open] == '<' ? after_brackets(rest, open) : open;
  value.type = absl::StripAsciiWhitespace(rest.substr(0, end));
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

// VHLO writes attributes of arguments after the function: {arg_attrs = #vhlo.array_v1<[...]>}.
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

// "stablehlo.add" for "vhlo.add_v1".
std::string operation_name(std::string_view dialect, std::string_view name) {
  if (dialect != "vhlo") return fmt::format("{}.{}", dialect, name);
  return fmt::format("stablehlo.{}", name.substr(0, name.rfind("_v")));
}

bool is_weight(const TensorText& tensor) {
  return is_weight_constant(dtype_of(type_of_text(tensor.element)), tensor.sizes);
}

// The text around "dense<...> : tensor<...>" in an operation that makes a constant, and a call.
struct ConstantForm {
  std::string_view head;
  std::string_view tail;
  std::string_view call_head;
  std::string_view call_tail;
  std::string_view type_head;  // of the result, if the call has to say it
};
constexpr std::array kForms = {
    ConstantForm{"stablehlo.constant ", "", "stablehlo.custom_call @", "() : () -> ", "tensor<"},
    ConstantForm{"\"vhlo.constant_v1\"() <{value = #vhlo.tensor_v1<", ">}> ",
                 "\"vhlo.custom_call_v1\"() <{api_version = #vhlo<api_version_v1 "
                 "API_VERSION_ORIGINAL>, backend_config = #vhlo.string_v1<\"\">, call_target_name "
                 "= #vhlo.string_v1<\"",
                 "\">, called_computations = #vhlo.array_v1<[]>, has_side_effect = "
                 "#vhlo.bool_v1<false>, operand_layouts = #vhlo.array_v1<[]>, "
                 "output_operand_aliases = #vhlo.array_v1<[]>, result_layouts = "
                 "#vhlo.array_v1<[]>}> ",
                 ""},
};

struct FoundConstant {
  ConstantText constant;
  std::size_t end = 0;    // of the operation, as far as the form goes
  std::string_view type;  // "tensor<...>"
};

std::optional<FoundConstant> constant_at(std::string_view text, std::size_t at,
                                         const ConstantForm& form) {
  FoundConstant found;
  found.constant.value = at + form.head.size();
  constexpr std::string_view kDense = "dense<";
  constexpr std::string_view kColon = " : ";
  if (!text.substr(found.constant.value).starts_with(kDense)) return std::nullopt;
  std::size_t end = after_brackets(text, found.constant.value + kDense.size() - 1);
  found.constant.size = end - found.constant.value;
  if (!text.substr(end).starts_with(kColon)) return std::nullopt;
  const std::size_t type = end + kColon.size();
  if (!text.substr(type).starts_with("tensor<")) return std::nullopt;
  end = after_brackets(text, type + 6);
  found.type = text.substr(type, end - type);
  if (!text.substr(end).starts_with(form.tail)) return std::nullopt;
  const auto tensor = tensor_in(found.type);
  if (!tensor || !is_weight(*tensor)) return std::nullopt;
  found.constant.type = *tensor;
  found.end = end + form.tail.size();
  return found;
}

}  // namespace

Status check_sizes(const std::string& file, std::string_view text) {
  const auto excess = excess_in(text);
  if (!excess) return {};
  const auto line =
      std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(excess->at), '\n');
  return fail(Error::at({file, static_cast<int>(line) + 1, 0}, excess->what));
}

Status check_contents(const std::string& file, std::string_view text) {
  if (const auto excess = excess_in(text)) return fail(Error::at({file}, excess->what));
  constexpr std::string_view kDense = "dense<";
  std::int64_t made = 0;
  for (std::size_t at = text.find(kDense); at != kNowhere; at = text.find(kDense, at + 1)) {
    made += made_elements(text, at);
    if (made <= kMostRepeatedElements) continue;
    return fail(Error::at({file}, fmt::format("constants that repeat one number have more than {} "
                                              "elements",
                                              kMostRepeatedElements))
                    .note("a 'stablehlo.broadcast_in_dim' of the number takes no memory"));
  }
  return Calls(file, text).check();
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

LiftedText lift_constants(std::string_view text) {
  LiftedText lifted;
  std::size_t done = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    const ConstantForm* form = nullptr;
    for (const ConstantForm& one : kForms) {
      if (text[at] == one.head.front() && text.substr(at).starts_with(one.head)) form = &one;
    }
    const auto found = form == nullptr ? std::nullopt : constant_at(text, at, *form);
    if (!found) {
      at = text[at] == '"' ? after_quotes(text, at) : at + 1;
      continue;
    }
    lifted.text += text.substr(done, at - done);
    lifted.text += form->call_head;
    lifted.text += constant_call(lifted.constants.size());
    lifted.text += form->call_tail;
    if (!form->type_head.empty()) lifted.text += found->type;
    lifted.constants.push_back(found->constant);
    at = done = found->end;
  }
  lifted.text += text.substr(done);
  return lifted;
}

}  // namespace tfaot::toolkit::engine
