// SPDX-License-Identifier: Apache-2.0
// The one table of what aot_config.yaml may contain. The parser follows it. Tests compare it with
// the JSON Schema for editors (templates/aot_config.schema.json) and with the table in
// docs/config.md. To add a key: its row in config_keys.cc, a member of ModelSpec that
// load_model_spec.cc fills, rules between keys in check_model.cc; for an option ConfigOverrides,
// for CMake tfaot_add_model.cmake. If the engine reads it: engine_job.h. If code depends on it:
// also the key of the engine's object_code.cc, the manifest and spec_from_manifest().
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

enum class KeyType {
  kMap,           // its keys have paths that start with its own path
  kText,          // quoted, or plain text that is neither a number nor true or false
  kTextOrNumber,  // a number is read as its text: 1.10 is "1.10"
  kWholeNumber,
  kShape,      // list of dimensions; the first may be the batch: null or -1
  kTextOrMap,  // a text is short for a map with only "name"
  kSizes,      // map of any names to whole numbers
  kRanges,     // map of any names to ranges of whole numbers, or to others of the names
  kConstants,  // map of any names to numbers, true or false, or lists of them in lists
};

// What a text must look like.
struct TextRule {
  std::string pattern = {};  // ECMAScript, from ^ to $; empty: any
  std::string meaning = {};  // the pattern in words
  bool cpp_name = false;     // each part between "::" must also be usable as a C++ name
  std::size_t min_length = 0;
  std::size_t max_length = 4096;
};

struct ConfigKey {
  std::string path;  // "model.name"; "model.inputs[].name" for a key in a list of maps
  KeyType type = KeyType::kText;
  bool list = false;          // a list of `type`
  bool distinct = false;      // no item of the list may come twice
  std::size_t min_items = 0;  // of the list
  std::size_t max_items = 1000;
  // With `formats`: if the model has one of them. Of the batch sizes: if the model has a batch.
  bool required = false;
  std::vector<ModelFormat> formats = {};  // the key belongs to models of these only; empty: of all
  std::string fallback = {};              // the default as YAML; empty: none, or computed (see doc)
  std::vector<std::string> allowed =
      {};  // the only allowed values of a text; text.meaning may summarize them
  TextRule text = {};
  std::int64_t maximum = 0;  // of a whole number or a dimension; the minimum is 1
  std::string doc = {};      // one sentence
};

// REQUIRES: the key belongs to some formats only.
bool belongs_to(const ConfigKey& key, ModelFormat format);

// In the order of the manual; a map comes before its keys.
const std::vector<ConfigKey>& config_keys();

// REQUIRES: the path is in the table.
const ConfigKey& config_key(const std::string& path);

// The keys directly below a map: children_of("model"), children_of("") for the top level,
// children_of("model.inputs[]") for the maps in a list.
std::vector<const ConfigKey*> children_of(const std::string& map);

// The last part of the path.
std::string key_name(const ConfigKey& key);

}  // namespace tfaot::toolkit
