// SPDX-License-Identifier: Apache-2.0
#include "single_operation.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <stdexcept>

#include "tfaot/base/text.h"

namespace tfaot::toolkit::testing {
namespace {

struct Type {
  std::string name;   // in a GraphDef
  std::string field;  // of a constant's values
  std::string value;  // that fills a constant
};

const std::map<char, Type> kTypes = {
    {'f', {"DT_FLOAT", "float_val", "0.5"}},   {'d', {"DT_DOUBLE", "double_val", "0.5"}},
    {'h', {"DT_HALF", "half_val", "14336"}},   {'i', {"DT_INT32", "int_val", "1"}},
    {'l', {"DT_INT64", "int64_val", "1"}},     {'b', {"DT_BOOL", "bool_val", "true"}},
    {'s', {"DT_STRING", "string_val", "'x'"}}, {'c', {"DT_COMPLEX64", "scomplex_val", "1"}}};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  bool is_quoted = false;
  int depth = 0;
  for (const char c : text) {
    is_quoted = is_quoted != (c == '\'');
    if (!is_quoted) depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    if (c == separator && !is_quoted && depth == 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> found;
  for (std::string& word : split(text, ' ')) {
    if (!word.empty()) found.push_back(std::move(word));
  }
  return found;
}

// "[...]" and "{...}" without their brackets.
std::string inner(const std::string& text) { return text.substr(1, text.size() - 2); }

std::string dimensions(const std::vector<std::string>& sizes) {
  std::string text;
  for (const std::string& size : sizes) text += fmt::format(" dim {{ size: {} }}", size);
  return text;
}

std::string constant_node(const std::string& name, const Type& type, const std::string& value) {
  std::vector<std::string> shape;
  std::vector<std::string> values = {type.value};
  if (value.starts_with('=')) {
    values = {value.substr(1)};
  } else if (value.starts_with('[')) {
    shape = split(inner(value), 'x');
    if (shape == std::vector<std::string>{"0"}) values.clear();
  } else {
    values.clear();
    const auto rows = split(inner(value), ',');
    shape = {std::to_string(rows.size())};
    for (const std::string& row : rows) {
      const auto columns =
          row.starts_with('{') ? split(inner(row), ',') : std::vector<std::string>{row};
      if (row.starts_with('{')) shape = {shape[0], std::to_string(columns.size())};
      values.insert(values.end(), columns.begin(), columns.end());
    }
  }
  std::string text;
  for (const std::string& one : values) text += fmt::format(" {}: {}", type.field, one);
  return fmt::format(
      "node {{ name: '{0}' op: 'Const'\n"
      "  attr {{ key: 'dtype' value {{ type: {1} }} }}\n"
      "  attr {{ key: 'value' value {{ tensor {{ dtype: {1} tensor_shape {{{2} }}{3} }} }} }} }}\n",
      name, type.name, dimensions(shape), text);
}

std::string placeholder_node(const std::string& name, const Type& type, const std::string& sizes) {
  std::vector<std::string> shape = {"-1"};
  if (sizes == "?") {
    shape.emplace_back("-1");
  } else if (sizes == ".") {
    shape.clear();
  } else if (!sizes.empty()) {
    const auto row = split(sizes, 'x');
    shape.insert(shape.end(), row.begin(), row.end());
  }
  return fmt::format(
      "node {{ name: '{}' op: 'Placeholder'\n"
      "  attr {{ key: 'dtype' value {{ type: {} }} }}\n"
      "  attr {{ key: 'shape' value {{ shape {{{} }} }} }} }}\n",
      name, type.name, dimensions(shape));
}

// "type: DT_FLOAT", a field of AttrValue and of its lists.
std::string plain_value(const std::string& value) {
  const auto type = value.size() == 1 ? kTypes.find(value[0]) : kTypes.end();
  if (type != kTypes.end()) return "type: " + type->second.name;
  if (value == "true" || value == "false") return "b: " + value;
  if (value.starts_with('\'')) return "s: " + value;
  return (value.find('.') == std::string::npos ? "i: " : "f: ") + value;
}

std::string attribute_value(const std::string& value) {
  if (value.starts_with("shape(")) {
    return fmt::format("shape {{{} }}", dimensions(split(inner(value.substr(5)), ',')));
  }
  if (!value.starts_with('[')) return plain_value(value);
  std::string text = "list {";
  for (const std::string& one : split(inner(value), ',')) text += " " + plain_value(one);
  return text + " }";
}

SingleOperation operation_of(const std::string& line) {
  const auto parts = split(line, '|');
  if (parts.size() < 2) throw std::runtime_error("not a single operation: " + line);
  SingleOperation made;
  made.name = words(parts[0]).at(0);
  std::string node = fmt::format("node {{ name: 'y' op: '{}'\n", split(made.name, '@')[0]);
  std::vector<std::string> inputs;
  std::size_t count = 0;
  for (const std::string& input : words(parts[1])) {
    const char letter = lower_case(input)[0];
    const Type& type = kTypes.at(letter);
    const std::string name = fmt::format("x{}", count++);
    node += fmt::format("  input: '{}'\n", name);
    const bool is_input = letter == input[0];
    if (is_input) inputs.push_back(name);
    made.graph += is_input ? placeholder_node(name, type, input.substr(1))
                           : constant_node(name, type, input.substr(1));
  }
  for (const std::string& attribute : words(parts.size() > 2 ? parts[2] : "")) {
    const auto end = attribute.find('=');
    node += fmt::format("  attr {{ key: '{}' value {{ {} }} }}\n", attribute.substr(0, end),
                        attribute_value(attribute.substr(end + 1)));
  }
  made.graph += node + "}\nversions { producer: 1882 }\n";
  made.config = fmt::format(
      "model: {{name: single, version: '1', format: frozen_graph, frozen_graph: graph.pbtxt,\n"
      "        inputs: [{}], outputs: [y]}}\n"
      "compilation: {{batch_sizes: [2], cpu_levels: [x86-64]}}\n",
      join(inputs, ", "));
  return made;
}

}  // namespace

std::vector<SingleOperation> read_single_operations(const std::string& file) {
  std::vector<SingleOperation> all;
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line[0] != '#') all.push_back(operation_of(line));
  }
  return all;
}

}  // namespace tfaot::toolkit::testing
