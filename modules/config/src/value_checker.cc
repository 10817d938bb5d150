// SPDX-License-Identifier: Apache-2.0
#include "value_checker.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tfaot/base/printable.h"
#include "tfaot/base/text.h"
#include "yaml_text.h"

namespace tfaot::toolkit::config {
namespace {

// "in 'model.inputs'", "at the top level".
std::string place_of(const std::string& path) {
  return path.empty() ? "at the top level" : fmt::format("in '{}'", replace_all(path, "[]", ""));
}

std::vector<std::string> names_below(const std::string& path) {
  std::vector<std::string> names;
  for (const ConfigKey* key : children_of(path)) names.push_back(key_name(*key));
  return names;
}

}  // namespace

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
      if (key.required && !key.format && !given_.count(key.path)) {
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
    if (!key->required || key->format || seen.count(name) || values.count(key->path) ||
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
        .note(fmt::format("first given in line {}", first->second.line + 1));
    return false;
  }
  const std::vector<std::string> names = names_below(path);
  if (std::count(names.begin(), names.end(), name)) return true;
  const auto match = closest_match(name, names);
  Error& error = problems_.add(
      key.Mark(), fmt::format("unknown key '{}' {}{}", shown(name), place_of(path),
                              match ? fmt::format(" (did you mean '{}'?)", *match) : ""));
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

}  // namespace tfaot::toolkit::config
