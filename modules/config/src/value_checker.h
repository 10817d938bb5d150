// SPDX-License-Identifier: Apache-2.0
// Checks a parsed config against the table of keys: unknown, duplicate and missing keys, types,
// allowed values. Contains no key's name. One object per parse, one thread.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "problems.h"
#include "tfaot/config/config_keys.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit::config {

// A value that was given and is not null.
struct Value {
  YAML::Node node;
  YAML::Mark key;     // where its key is; null for an option
  std::string label;  // "model.name", or the option that gave it, "--namespace"
  bool good = false;  // it follows its ConfigKey
};

using Values = std::map<std::string, Value>;  // by ConfigKey::path

class ValueChecker {
 public:
  // `given` are paths of required keys that the file may leave out.
  ValueChecker(Problems& problems, std::set<std::string> given)
      : problems_(problems), given_(std::move(given)) {}

  // Checks the map at `path` ("" is the whole file) and puts the values below it into `values`.
  // `where` is the place to report for a missing key.
  void check_map(const std::string& path, const YAML::Node& map, const YAML::Mark& where,
                 Values& values);

  // Returns whether the value follows its key.
  bool check_value(const ConfigKey& key, const Value& value);

 private:
  // A misspelt key counts as a bad value of the intended key, which then does not count as missing.
  bool check_key(const std::string& path, const YAML::Node& key,
                 const std::map<std::string, YAML::Mark>& seen, Values& values);
  bool check_item(const ConfigKey& key, const YAML::Node& node, const std::string& label);
  bool check_text_item(const ConfigKey& key, const YAML::Node& node, const std::string& label);
  bool check_whole_number(const ConfigKey& key, const YAML::Node& node, const std::string& label);
  bool check_shape(const ConfigKey& key, const YAML::Node& node, const std::string& label);
  bool check_sizes(const ConfigKey& key, const YAML::Node& node, const std::string& label);
  bool check_ranges(const ConfigKey& key, const YAML::Node& node, const std::string& label);
  bool check_constants(const YAML::Node& node, const std::string& label);
  // A number or a truth value, or a list of such items of one shape.
  bool check_constant(const YAML::Node& node, const std::string& label);
  // True if the map's key is a name that is not in `seen` yet.
  bool check_name(const YAML::Node& name, const std::string& label, std::set<std::string>& seen);
  bool check_distinct(const YAML::Node& list, const std::string& label);

  Problems& problems_;
  std::set<std::string> given_;
};

// True if the first dimension of a KeyType::kShape is the batch.
bool starts_with_batch(const YAML::Node& shape);

// Two items of a list with the same identity are duplicates: the text, or the name in a map. "x"
// and "x:0" are the same tensor.
std::string identity_of(const YAML::Node& item);

// The values of model.constants. Pure functions.

// "true", "-3", "0.5", "inf": as ModelConstant::values has it. Nothing if the node is no number in
// decimal digits and no truth value.
std::optional<std::string> constant_text(const YAML::Node& node);

// Of lists in lists, by their first items; empty for what is no list.
std::vector<std::int64_t> shape_of_lists(const YAML::Node& node);

// REQUIRES: the lists in `value` have the same shape, and constant_text() knows their items.
ModelConstant constant_of(const std::string& name, const YAML::Node& value);

}  // namespace tfaot::toolkit::config
