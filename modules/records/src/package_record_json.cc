// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/package_record_json.h"

#include "tfaot/base/limits.h"
#include "tfaot/records/compiled_model.h"
#include "tfaot/records/compiled_model_json.h"

namespace tfaot::toolkit {
namespace {

Result<std::vector<FrozenInput>> read_inputs(const JsonReader& json);

}  // namespace

template <>
inline constexpr auto kMembers<FrozenInput> =
    std::array{member<&FrozenInput::name>("name"), member<&FrozenInput::dtype>("dtype"),
               member_unless_default<&FrozenInput::row_shape>("row_shape")};

// The manifest has the others.
template <>
inline constexpr auto kMembers<ModelSection> =
    std::array{member<&ModelSection::format>("format"),
               member<&ModelSection::inputs, read_inputs>("inputs"),
               member<&ModelSection::outputs>("outputs"),
               member_unless_default<&ModelSection::dimensions>("dimensions"),
               member_unless_default<&ModelSection::constants>("constants"),
               member_unless_default<&ModelSection::record_version>("record_version")};

namespace {

Result<std::vector<FrozenInput>> read_inputs(const JsonReader& json) {
  return json.list(read_value<FrozenInput>, kMostTensors);
}

Status check_fits(const Manifest& manifest, const CompiledModel& compiled) {
  TFAOT_TRY(check_compiled_model(compiled));
  if (compiled.batch_sizes != manifest.batch_sizes || compiled.cpu_levels != manifest.cpu_levels) {
    return fail(Error("the manifest has other batch sizes or CPU levels"));
  }
  return {};
}

// `model`: the members that the manifest does not have.
ModelSpec spec_from_manifest(const Manifest& manifest, ModelSection model) {
  ModelSpec spec;
  spec.model = std::move(model);
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
  spec.compilation.dimensions = manifest.dimensions;
  spec.compilation.weights = manifest.weights.storage;
  spec.compilation.weights_type = manifest.weights.type;
  spec.compilation.compute = manifest.compute;
  spec.compilation.optimize = manifest.optimize;
  spec.compilation.tf_xla_flags = manifest.tf_xla_flags;
  spec.compilation.xla_flags = manifest.xla_flags;
  return spec;
}

Result<PackagedModel> read_model(const Manifest& manifest, const JsonReader& json) {
  TFAOT_ASSIGN(ModelSection model, read_value<ModelSection>(json));
  PackagedModel package{spec_from_manifest(manifest, std::move(model)), {}};
  TFAOT_TRY(json.read("compiled", package.compiled, read_value<CompiledModel>));
  return package;
}

}  // namespace

std::string package_record_to_json(const ModelSpec& spec, const CompiledModel& compiled) {
  CompiledModel kept = compiled;
  for (CompiledCode& code : kept.codes) code.from_cache = false;  // true for one run only
  ordered_json json = json_of(spec.model);
  json["compiled"] = json_of(kept);
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

std::string compiled_model_to_json(const CompiledModel& compiled) {
  return json_line(json_of(compiled));
}

Result<CompiledModel> compiled_model_from_json(const std::string& text, const std::string& where) {
  return read_document<CompiledModel>(text, {where, "not a record"});
}

}  // namespace tfaot::toolkit
