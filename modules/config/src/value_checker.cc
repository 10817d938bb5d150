// SPDX-License-Identifier: Apache-2.0
#include "value_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/base/pattern.h"
#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "tfaot/config/config_keys.h"
#include "tfaot/records/cpp_names.h"
#include "tfaot/records/words.h"
#include "yaml_text.h"

namespace tfaot::toolkit {

// What a value must be.
template <>
inline constexpr auto kWords<KeyType> = std::to_array<Word<KeyType>>({
    {KeyType::kMap, "a map"},
    {KeyType::kText, "a string"},
    {KeyType::kTextOrNumber, "a string or a number"},
    {KeyType::kWholeNumber, "a whole number"},
    {KeyType::kShape, "a list of dimensions"},
    {KeyType::kTextOrMap, "a string or a map"},
    {KeyType::kSizes, "a map of names to sizes"},
    {KeyType::kRanges, "a map of names to ranges"},
    {KeyType::kConstants, "a map of names to values"},
});

namespace config {
namespace {

// Checks one text against its ConfigKey.

// The message follows the key's name; the note says what is allowed.
std::optional<TextProblem> check_text(const ConfigKey& key, const std::string& text) {
  const TextRule& rule = key.text;
  if (!key.allowed.empty()) {
    if (contains(key.allowed, text)) return std::nullopt;
    return TextProblem{
        fmt::format("'{}' is not allowed{}", shown(text), guess(text, key.allowed)),
        "allowed: " + (rule.meaning.empty() ? join(key.allowed, ", ") : rule.meaning)};
  }
  if (text.size() > rule.max_length) {
    return TextProblem{fmt::format("it has {} bytes", text.size()),
                       fmt::format("allowed: at most {}", rule.max_length)};
  }
  if (text.size() < rule.min_length) {
    return TextProblem{"it is empty", "allowed: " + rule.meaning};
  }
  if (rule.pattern.empty()) return std::nullopt;
  if (!Pattern(rule.pattern).matches(text)) {
    return TextProblem{fmt::format("'{}' is not allowed", shown(text)), "allowed: " + rule.meaning};
  }
  return rule.cpp_name ? check_cpp_name(text, key.path == "compilation.namespace") : std::nullopt;
}

// "in 'model.inputs'", "at the top level".
std::string place_of(const std::string& path) {
  return path.empty() ? "at the top level" : fmt::format("in '{}'", replace_all(path, "[]", ""));
}

std::vector<std::string> names_below(const std::string& path) {
  return mapped(children_of(path), [&](const ConfigKey* key) { return key_name(*key); });
}

// True if text is digits only, without leading zeros, and at most `maximum`.
bool is_whole_number(const std::string& text, std::int64_t maximum) {
  const auto number = parse_number<std::int64_t>(text);
  return number && *number > 0 && *number <= maximum && text[0] != '0';
}

bool is_open_size(const YAML::Node& item) {
  return item.IsNull() || (kind_of(item) == YamlKind::kInteger && item.Scalar() == "-1");
}

void append_values(const YAML::Node& node, std::vector<std::string>& values) {
  if (!node.IsSequence()) {
    values.push_back(constant_text(node).value());
    return;
  }
  for (const YAML::Node& item : node) append_values(item, values);
}

std::string label_of_member(const std::string& label, const YAML::Node& member) {
  return label + (label.starts_with("--") ? " " : ".") + shown(member.Scalar());
}

}  // namespace

bool starts_with_batch(const YAML::Node& shape) {
  return shape.size() > 0 && is_open_size(shape[0]);
}

void ValueChecker::check_map(const std::string& path, const YAML::Node& map,
                             const YAML::Mark& where, Values& values) {
  std::map<std::string, YAML::Mark> seen;
  for (const auto& entry : map) {
    const YAML::Node& key_node = entry.first;
    const YAML::Node& node = entry.second;
    if (!check_key(path, key_node, seen, values)) continue;
    seen.emplace(key_node.Scalar(), key_node.Mark());
    const ConfigKey& key = config_key((path.empty() ? "" : path + ".") + key_node.Scalar());
    Value value{node, key_node.Mark(), replace_all(key.path, "[]", "")};
    if (node.IsNull()) {
      if (key.required && key.formats.empty() && !given_.count(key.path)) {
        problems_.add(value.key, fmt::format("{} is null, but it is required", value.label))
            .note(key.doc);
      }
      continue;
    }
    value.good = check_value(key, value);
    if (value.good && key.type == KeyType::kMap) check_map(key.path, node, value.key, values);
    values.emplace(key.path, value);
  }
  for (const ConfigKey* key : children_of(path)) {
    const std::string name = key_name(*key);
    if (!key->required || !key->formats.empty() || seen.count(name) || values.count(key->path) ||
        given_.count(key->path)) {
      continue;
    }
    problems_.add(where, fmt::format("missing key '{}' {}", name, place_of(path))).note(key->doc);
  }
}

bool ValueChecker::check_key(const std::string& path, const YAML::Node& key,
                             const std::map<std::string, YAML::Mark>& seen, Values& values) {
  if (!key.IsScalar()) {
    problems_.add(key.Mark(), fmt::format("a key {} is {}", place_of(path), describe(key)))
        .note("allowed: " + join(names_below(path), ", "));
    return false;
  }
  const std::string& name = key.Scalar();
  if (const auto first = seen.find(name); first != seen.end()) {
    problems_.add(key.Mark(), fmt::format("duplicate key '{}' {}", shown(name), place_of(path)))
        .note(fmt::format("first given on line {}", first->second.line + 1));
    return false;
  }
  const std::vector<std::string> names = names_below(path);
  if (contains(names, name)) return true;
  const auto match = closest_match(name, names);
  Error& error = problems_.add(key.Mark(), fmt::format("unknown key '{}' {}{}", shown(name),
                                                       place_of(path), guess(name, names)));
  if (match) {
    const std::string meant = (path.empty() ? "" : path + ".") + *match;
    values.emplace(meant, Value{YAML::Node(), key.Mark(), replace_all(meant, "[]", "")});
  }
  for (const ConfigKey& other : config_keys()) {
    if (!match && key_name(other) == name) error.note("there is a key '" + other.path + "'");
  }
  error.note("allowed: " + join(names, ", "));
  return false;
}

std::string identity_of(const YAML::Node& item) {
  std::string text = item.IsMap() ? identity_of(item["name"]) : item.Scalar();
  if (text.ends_with(":0")) text.resize(text.size() - 2);
  return text;
}

bool ValueChecker::check_value(const ConfigKey& key, const Value& value) {
  const YAML::Node& node = value.node;
  const std::string& label = value.label;
  if (!key.list) return check_item(key, node, label);
  if (!node.IsSequence()) {
    Error& error = problems_.add(
        node.Mark(), fmt::format("{}: expected a list, found {}", label, describe(node)));
    if (node.IsScalar()) {
      error.note(
          fmt::format("write [{}]", shown(join(split_words(node.Scalar(), ", \t\r\n\f\v"), ", "))));
    }
    return false;
  }
  if (node.size() < key.min_items) {
    problems_.add(node.Mark(), fmt::format("{}: the list is empty", label)).note(key.doc);
    return false;
  }
  if (node.size() > key.max_items) {
    problems_.add(node.Mark(), fmt::format("{}: the list has {} items", label, node.size()))
        .note(fmt::format("allowed: at most {}", key.max_items));
    return false;
  }
  bool good = true;
  for (const YAML::Node& item : node) good &= check_item(key, item, label);
  return good && (!key.distinct || check_distinct(node, label));
}

bool ValueChecker::check_item(const ConfigKey& key, const YAML::Node& node,
                              const std::string& label) {
  const YamlKind kind = kind_of(node);
  const KeyType type = key.type;
  if (type == KeyType::kWholeNumber) return check_whole_number(key, node, label);
  const bool takes_text =
      type == KeyType::kText || type == KeyType::kTextOrNumber || type == KeyType::kTextOrMap;
  const bool is_number = kind == YamlKind::kInteger || kind == YamlKind::kFloat;
  if ((takes_text && kind == YamlKind::kText) || (type == KeyType::kTextOrNumber && is_number)) {
    return check_text_item(key, node, label);
  }
  if (type == KeyType::kShape && kind == YamlKind::kList) return check_shape(key, node, label);
  if (kind == YamlKind::kMap) {
    if (type == KeyType::kMap) return true;
    if (type == KeyType::kSizes) return check_sizes(key, node, label);
    if (type == KeyType::kRanges) return check_ranges(key, node, label);
    if (type == KeyType::kConstants) return check_constants(node, label);
    if (type == KeyType::kTextOrMap) {
      const std::size_t before = problems_.count();
      Values unused;
      check_map(key.path + "[]", node, node.Mark(), unused);
      return problems_.count() == before;
    }
  }
  Error& error = problems_.add(
      node.Mark(), fmt::format("{}: expected {}, found {}", label, word_of(type), describe(node)));
  if (takes_text && node.IsScalar() && kind != YamlKind::kOther) {
    const auto problem = check_text(key, node.Scalar());
    error.note(problem ? problem->note
                       : fmt::format("write it with quotes: \"{}\"", shown(node.Scalar())));
  }
  return false;
}

bool ValueChecker::check_text_item(const ConfigKey& key, const YAML::Node& node,
                                   const std::string& label) {
  const auto problem = check_text(key, node.Scalar());
  if (problem) {
    problems_.add(node.Mark(), fmt::format("{}: {}", label, problem->message)).note(problem->note);
  }
  return !problem;
}

bool ValueChecker::check_whole_number(const ConfigKey& key, const YAML::Node& node,
                                      const std::string& label) {
  const bool number = kind_of(node) == YamlKind::kInteger;
  if (number && is_whole_number(node.Scalar(), key.maximum)) return true;
  Error& error = problems_.add(
      node.Mark(),
      number ? fmt::format("{}: {} is not allowed", label, shown(node.Scalar()))
             : fmt::format("{}: expected a whole number, found {}", label, describe(node)));
  if (kind_of(node) == YamlKind::kText && is_whole_number(node.Scalar(), key.maximum)) {
    error.note("write it without quotes: " + node.Scalar());
  }
  error.note(fmt::format("allowed: 1 to {}, in decimal digits", key.maximum));
  return false;
}

bool ValueChecker::check_shape(const ConfigKey& key, const YAML::Node& node,
                               const std::string& label) {
  bool good = true;
  for (std::size_t i = starts_with_batch(node) ? 1 : 0; i < node.size(); ++i) {
    if (is_open_size(node[i])) {
      problems_.add(node[i].Mark(), fmt::format("{}: dimension {} is unknown", label, i))
          .note("only the first dimension, the batch, may be unknown");
      good = false;
    } else {
      good &= check_whole_number(key, node[i], label);
    }
  }
  return good;
}

bool ValueChecker::check_sizes(const ConfigKey& key, const YAML::Node& node,
                               const std::string& label) {
  std::set<std::string> seen;
  bool good = true;
  for (const auto& entry : node) {
    good &= check_name(entry.first, label, seen) &&
            check_whole_number(key, entry.second, label_of_member(label, entry.first));
  }
  return good;
}

bool ValueChecker::check_ranges(const ConfigKey& key, const YAML::Node& node,
                                const std::string& label) {
  std::set<std::string> seen;
  bool good = true;
  for (const auto& entry : node) {
    if (!check_name(entry.first, label, seen)) {
      good = false;
      continue;
    }
    const std::string text = entry.second.IsScalar() ? entry.second.Scalar() : "";
    const auto range = size_range(text);
    const bool is_range = range && range->largest <= key.maximum;
    const YAML::Node other = text.empty() ? YAML::Node(YAML::NodeType::Undefined) : node[text];
    if (is_range || (other && other.IsScalar() && size_range(other.Scalar()))) continue;
    good = false;
    problems_
        .add(entry.second.Mark(),
             fmt::format("{}: '{}' is neither a range of sizes nor a dimension that has one",
                         label_of_member(label, entry.first), shown(text)))
        .note(fmt::format("allowed: two sizes, as in 1..128, of 0 to {}, or the name of another "
                          "dimension that has such a range and always the same size",
                          key.maximum));
  }
  return good;
}

bool ValueChecker::check_constants(const YAML::Node& node, const std::string& label) {
  std::set<std::string> seen;
  bool good = true;
  for (const auto& entry : node) {
    good &= check_name(entry.first, label, seen) &&
            check_constant(entry.second, label + "." + shown(entry.first.Scalar()));
  }
  return good;
}

bool ValueChecker::check_constant(const YAML::Node& node, const std::string& label) {
  const YamlKind kind = kind_of(node);
  if (kind == YamlKind::kList) {
    bool good = true;
    for (const YAML::Node& item : node) good = good && check_constant(item, label);
    for (const YAML::Node& item : node) {
      if (!good || shape_of_lists(item) == shape_of_lists(node[0])) continue;
      problems_.add(item.Mark(), fmt::format("{}: the parts of a list differ in shape", label));
      good = false;
    }
    return good;
  }
  if (constant_text(node)) return true;
  Error& error = problems_.add(
      node.Mark(), fmt::format("{}: expected a number, true or false, or a list, found {}", label,
                               describe(node)));
  if (kind == YamlKind::kInteger) error.note("write it in decimal digits");
  return false;
}

bool ValueChecker::check_name(const YAML::Node& name, const std::string& label,
                              std::set<std::string>& seen) {
  if (!name.IsScalar() || name.Scalar().empty()) {
    problems_.add(name.Mark(), fmt::format("{}: a name is {}", label,
                                           name.IsScalar() ? "empty" : describe(name)));
    return false;
  }
  if (seen.insert(identity_of(name)).second) return true;
  problems_.add(name.Mark(), fmt::format("{}: '{}' is given twice", label, shown(name.Scalar())));
  return false;
}

bool ValueChecker::check_distinct(const YAML::Node& list, const std::string& label) {
  std::set<std::string> seen;
  bool good = true;
  for (const YAML::Node& item : list) {
    const std::string identity = identity_of(item);
    if (seen.insert(identity).second) continue;
    problems_.add(item.Mark(), fmt::format("{}: {} is given twice", label, shown(identity)));
    good = false;
  }
  return good;
}

std::optional<std::string> constant_text(const YAML::Node& node) {
  const YamlKind kind = kind_of(node);
  if (kind != YamlKind::kBool && kind != YamlKind::kInteger && kind != YamlKind::kFloat) {
    return std::nullopt;
  }
  std::string text = lower_case(node.Scalar());
  if (text.find_first_of("xo") != std::string::npos) return std::nullopt;  // 0x10, 0o20
  // ".inf" and ".nan" are YAML's.
  if (text.ends_with("inf") || text.ends_with("nan")) std::erase(text, '.');
  return text;
}

std::vector<std::int64_t> shape_of_lists(const YAML::Node& node) {
  if (!node.IsSequence()) return {};
  std::vector<std::int64_t> shape;
  if (node.size() > 0) shape = shape_of_lists(node[0]);
  shape.insert(shape.begin(), static_cast<std::int64_t>(node.size()));
  return shape;
}

ModelConstant constant_of(const std::string& name, const YAML::Node& value) {
  ModelConstant constant{name, shape_of_lists(value), {}};
  append_values(value, constant.values);
  return constant;
}

}  // namespace config
}  // namespace tfaot::toolkit
