// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/config/schema_from_table.h"

#include "tfaot/config/config_keys.h"
#include "tfaot/records/cpu_levels.h"

namespace tfaot::toolkit::testing {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kBatchSizes = "compilation.batch_sizes";

Json map_schema(const std::string& path);

Json text_schema(const ConfigKey& key) {
  Json schema;
  schema["type"] = key.type == KeyType::kTextOrNumber ? Json{"string", "number"} : Json("string");
  if (!key.allowed.empty()) {
    schema["enum"] = key.allowed;
    return schema;
  }
  if (!key.text.pattern.empty()) schema["pattern"] = key.text.pattern;
  if (key.text.min_length > 0) schema["minLength"] = key.text.min_length;
  schema["maxLength"] = key.text.max_length;
  return schema;
}

Json item_schema(const ConfigKey& key) {
  const Json whole_number = {{"type", "integer"}, {"minimum", 1}, {"maximum", key.maximum}};
  switch (key.type) {
    case KeyType::kMap:
      return map_schema(key.path);
    case KeyType::kWholeNumber:
      return whole_number;
    case KeyType::kShape:
      return {{"type", "array"},
              {"items",
               Json::array({{{"anyOf", Json::array({{{"enum", {nullptr, -1}}}, whole_number})}}})},
              {"additionalItems", whole_number}};
    case KeyType::kSizes:
      return {{"type", "object"},
              {"propertyNames", {{"minLength", 1}}},
              {"additionalProperties", whole_number}};
    case KeyType::kRanges:
      return {{"type", "object"},
              {"propertyNames", {{"minLength", 1}}},
              {"additionalProperties", {{"type", "string"}, {"minLength", 1}}}};
    case KeyType::kConstants:
      return {{"type", "object"},
              {"propertyNames", {{"minLength", 1}}},
              {"additionalProperties", {{"$ref", "#/definitions/constant"}}}};
    case KeyType::kTextOrMap:
      return {{"anyOf", Json::array({text_schema(key), map_schema(key.path + "[]")})}};
    case KeyType::kText:
    case KeyType::kTextOrNumber:
      break;
  }
  return text_schema(key);
}

Json list_schema(const ConfigKey& key) {
  Json schema = {{"type", "array"}, {"items", item_schema(key)}};
  if (key.min_items > 0) schema["minItems"] = key.min_items;
  schema["maxItems"] = key.max_items;
  if (key.distinct) schema["uniqueItems"] = true;
  return schema;
}

// Null means the default.
void also_take_null(Json& schema) {
  Json& type = schema["type"];
  if (type.is_string()) type = Json::array({type});
  type.push_back("null");
  if (schema.contains("enum")) schema["enum"].push_back(nullptr);
}

Json key_schema(const ConfigKey& key) {
  Json schema = {{"description", key.doc}};
  schema.update(key.list ? list_schema(key) : item_schema(key));
  if (!key.required || !key.formats.empty()) also_take_null(schema);
  if (key.fallback == "[]" || key.fallback == "{}") {
    schema["default"] = Json::parse(key.fallback);
  } else if (!key.fallback.empty()) {
    schema["default"] = key.fallback == "''" ? "" : key.fallback;
  }
  return schema;
}

// What the format requires of the keys that belong to one format.
Json format_rule(ModelFormat format) {
  Json rule;
  for (const ConfigKey* key : children_of("model")) {
    if (key->formats.empty()) continue;
    const std::string name = key_name(*key);
    if (!belongs_to(*key, format)) rule["properties"][name] = {{"type", "null"}};
    if (belongs_to(*key, format) && key->required) {
      rule["required"].push_back(name);
      rule["properties"][name] = {{"type", "array"}};
    }
  }
  return rule;
}

Json levels_rule(const std::string& architecture) {
  const Json levels = {{"items", {{"enum", allowed_cpu_levels(architecture)}}}};
  return {{"properties", {{"cpu_levels", levels}}}};
}

Json when(const std::string& name, const Json& is) {
  return {{"properties", {{name, is}}}, {"required", Json::array({name})}};
}

// Batch sizes are required if there is a batch.
Json batch_rule() {
  const Json sizes = {{"required", Json::array({"batch_sizes"})}};
  return {{"if", when("batch", {{"const", word_of(BatchMode::kNone)}})},
          {"then", {{"not", sizes}, {"properties", {{"rows", {{"type", "null"}}}}}}},
          {"else", sizes}};
}

Json map_schema(const std::string& path) {
  Json schema = {{"type", "object"}, {"additionalProperties", false}};
  for (const ConfigKey* key : children_of(path)) {
    if (key->required && key->formats.empty() && key->path != kBatchSizes) {
      schema["required"].push_back(key_name(*key));
    }
    schema["properties"][key_name(*key)] = key_schema(*key);
  }
  if (path == "model") {
    Json rule = format_rule(ModelFormat::kSavedModel);
    for (const ModelFormat format :
         {ModelFormat::kStableHlo, ModelFormat::kOnnx, ModelFormat::kFrozenGraph}) {
      rule = {{"if", when("format", {{"const", word_of(format)}})},
              {"then", format_rule(format)},
              {"else", rule}};
    }
    schema.update(rule);
  }
  if (path == "compilation") {
    schema["if"] = when("target_triple", {{"type", "string"}, {"pattern", "^aarch64-"}});
    schema["then"] = levels_rule("aarch64");
    schema["else"] = levels_rule("x86_64");
    schema["allOf"] = Json::array({batch_rule()});
  }
  return schema;
}

}  // namespace

Json schema_from_table() {
  Json schema = {{"$schema", "http://json-schema.org/draft-07/schema#"},
                 {"title", "tfaot model config, aot_config.yaml"},
                 {"$comment",
                  "SPDX-License-Identifier: Apache-2.0. Kept equal to the parser's table "
                  "of keys by tests/unit/config/schema_test.cc."}};
  const Json constant = {{"$ref", "#/definitions/constant"}};
  const Json list = {{"type", "array"}, {"items", constant}};
  schema["definitions"]["constant"] = {
      {"anyOf", Json::array({{{"type", {"boolean", "number"}}}, list})}};
  schema.update(map_schema(""));
  return schema;
}

}  // namespace tfaot::toolkit::testing
