// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/package_record_json.h"

#include "model_section_json.h"
#include "tfaot/base/limits.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/compiled_model_json.h"

namespace tfaot::toolkit {
namespace {

nlohmann::json inputs_to_json(const std::vector<FrozenInput>& inputs) {
  nlohmann::json list = nlohmann::json::array();
  for (const FrozenInput& input : inputs) {
    list.push_back({{"name", input.name}, {"dtype", json_of(input.dtype)}});
    if (input.row_shape) list.back()["row_shape"] = *input.row_shape;
  }
  return list;
}

Result<FrozenInput> read_input(const JsonReader& json) {
  FrozenInput input;
  TFAOT_TRY(json.read("name", input.name, &JsonReader::text));
  TFAOT_TRY(json.read("dtype", input.dtype, read_value<std::optional<DType>>));
  TFAOT_TRY(
      json.read_if_there("row_shape", input.row_shape, read_value<std::vector<std::int64_t>>));
  return input;
}

Result<std::vector<FrozenInput>> read_inputs(const JsonReader& json) {
  return json.list(read_input, kMostTensors);
}

Status check_fits(const Manifest& manifest, const CompiledModel& compiled) {
  TFAOT_TRY(check_compiled_model(compiled));
  if (compiled.batch_sizes != manifest.batch_sizes || compiled.cpu_levels != manifest.cpu_levels) {
    return fail(Error("the manifest has other batch sizes or CPU levels"));
  }
  return {};
}

ModelSpec spec_from_manifest(const Manifest& manifest) {
  ModelSpec spec;
  spec.model.name = manifest.name;
  spec.model.version = manifest.version;
  spec.model.author = manifest.author;
  spec.model.description = manifest.description;
  spec.model.serving_key = manifest.signature.key;
  const std::string& cpp_class = manifest.cpp_class;
  spec.compilation.namespace_name = cpp_class.substr(0, cpp_class.rfind("::"));
  spec.compilation.batch = manifest.batch;
  spec.compilation.batch_sizes = manifest.batch_sizes;
  spec.compilation.target_triple = manifest.target_triple;
  spec.compilation.cpu_levels = manifest.cpu_levels;
  spec.compilation.headers = manifest.headers;
  spec.compilation.rows = manifest.rows;
  spec.compilation.weights = manifest.weights;
  spec.compilation.weights_type = manifest.weights_type;
  spec.compilation.optimize = manifest.optimize;
  spec.compilation.tf_xla_flags = manifest.tf_xla_flags;
  spec.compilation.xla_flags = manifest.xla_flags;
  return spec;
}

Result<PackagedModel> read_model(const Manifest& manifest, const JsonReader& json) {
  PackagedModel model{spec_from_manifest(manifest), {}};
  ModelSection& section = model.spec.model;
  TFAOT_TRY(json.read("format", section.format, &JsonReader::word<ModelFormat>));
  TFAOT_TRY(json.read("inputs", section.inputs, read_inputs));
  TFAOT_TRY(json.read("outputs", section.outputs, read_value<std::vector<std::string>>));
  TFAOT_TRY(
      json.read_if_there("dimensions", section.dimensions, read_value<std::vector<DimensionSize>>));
  TFAOT_TRY(
      json.read_if_there("constants", section.constants, read_value<std::vector<ModelConstant>>));
  TFAOT_TRY(json.read("compiled", model.compiled, read_value<CompiledModel>));
  return model;
}

}  // namespace

std::string package_record_to_json(const ModelSpec& spec, const CompiledModel& compiled) {
  CompiledModel kept = compiled;
  for (CompiledCode& code : kept.codes) code.from_cache = false;  // true for one run only
  nlohmann::json json = {{"format", word_of(spec.model.format)},
                         {"inputs", inputs_to_json(spec.model.inputs)},
                         {"outputs", spec.model.outputs},
                         {"compiled", json_of(kept)}};
  if (!spec.model.dimensions.empty()) json["dimensions"] = json_of(spec.model.dimensions);
  if (!spec.model.constants.empty()) json["constants"] = json_of(spec.model.constants);
  return json_line(json);
}

bool is_package_record(const std::string& text) {
  const auto json = parse_json(text, "");
  return json && json->is_object() && json->contains("format") && json->contains("compiled");
}

Result<PackagedModel> package_record_from_json(const Manifest& manifest, const std::string& text,
                                               const std::string& where) {
  TFAOT_ASSIGN(const nlohmann::json json, parse_json(text, where));
  auto model = read_model(manifest, JsonReader(json, where));
  if (!model) return fail(explained(model.error(), {where, "not a record of this tfaot"}));
  if (const Status fits = check_fits(manifest, model->compiled); !fits) {
    return fail(Error::at({where}, "the record is damaged, or belongs to another package")
                    .note(fits.error().message()));
  }
  return model;
}

}  // namespace tfaot::toolkit
