// SPDX-License-Identifier: Apache-2.0
#include "tfaot/generate/package_record_json.h"

#include <nlohmann/json.hpp>

#include "json_reader.h"
#include "record_checks.h"
#include "tfaot/base/printable.h"
#include "tfaot/compile/compile_json.h"

namespace tfaot::toolkit {
namespace {

constexpr const char* kFrozenGraph = "frozen_graph";
constexpr const char* kSavedModel = "saved_model";

nlohmann::json inputs_to_json(const std::vector<FrozenInput>& inputs) {
  nlohmann::json list = nlohmann::json::array();
  for (const FrozenInput& input : inputs) {
    list.push_back({{"name", input.name}, {"dtype", input.dtype}});
    if (input.row_shape) list.back()["row_shape"] = *input.row_shape;
  }
  return list;
}

std::vector<FrozenInput> inputs_from_json(const nlohmann::json& list) {
  std::vector<FrozenInput> inputs;
  for (const auto& json : list) {
    FrozenInput input{json.at("name"), json.at("dtype"), std::nullopt};
    if (json.contains("row_shape")) {
      input.row_shape = json.at("row_shape").get<std::vector<std::int64_t>>();
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

Status check_fits(const Manifest& manifest, const CompiledModel& compiled) {
  TFAOT_TRY(check_records(compiled));
  if (compiled.batch_sizes != manifest.batch_sizes || compiled.cpu_levels != manifest.cpu_levels) {
    return fail(Error("the manifest says other batch sizes or CPU levels"));
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
  spec.compilation.batch_sizes = manifest.batch_sizes;
  spec.compilation.target_triple = manifest.target_triple;
  spec.compilation.cpu_levels = manifest.cpu_levels;
  spec.compilation.headers = manifest.headers;
  spec.compilation.rows = manifest.rows;
  spec.compilation.weights =
      manifest.weights == "shared" ? WeightsMode::kShared : WeightsMode::kEmbedded;
  spec.compilation.tf_xla_flags = manifest.tf_xla_flags;
  spec.compilation.xla_flags = manifest.xla_flags;
  return spec;
}

}  // namespace

std::string package_record_to_json(const ModelSpec& spec, const CompiledModel& compiled) {
  CompiledModel kept = compiled;
  for (CompiledCode& code : kept.codes) code.from_cache = false;  // of one run only
  const nlohmann::json json = {
      {"format", spec.model.format == ModelFormat::kFrozenGraph ? kFrozenGraph : kSavedModel},
      {"inputs", inputs_to_json(spec.model.inputs)},
      {"outputs", spec.model.outputs},
      {"compiled", kept}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

bool is_package_record(const std::string& text) {
  const auto json = parse_json(text, "");
  return json && json->is_object() && json->contains("format") && json->contains("compiled");
}

Result<PackagedModel> package_record_from_json(const Manifest& manifest, const std::string& text,
                                               const std::string& where) {
  PackagedModel model{spec_from_manifest(manifest), {}};
  try {
    TFAOT_ASSIGN(const auto json, parse_json(text, where));
    if (json.at("format") == kFrozenGraph) model.spec.model.format = ModelFormat::kFrozenGraph;
    model.spec.model.inputs = inputs_from_json(json.at("inputs"));
    json.at("outputs").get_to(model.spec.model.outputs);
    json.at("compiled").get_to(model.compiled);
  } catch (const std::exception& e) {
    return fail(Error::at({where}, "not a record of this tfaot").note(shown(words_of(e), 300)));
  }
  if (const Status fits = check_fits(manifest, model.compiled); !fits) {
    return fail(Error::at({where}, "the record is damaged, or of another package")
                    .note(fits.error().message()));
  }
  return model;
}

}  // namespace tfaot::toolkit
