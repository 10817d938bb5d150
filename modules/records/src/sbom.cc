// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/sbom.h"

#include <nlohmann/json.hpp>

#include "tfaot/base/text.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/json_text.h"

namespace tfaot::toolkit {
namespace {

using nlohmann::ordered_json;

constexpr const char* kOurLicense = "Apache-2.0";

ordered_json licenses_of(std::string_view spdx) {
  return ordered_json::array({{{"license", {{"id", spdx}}}}});
}

ordered_json hash_of(const std::string& sha256) {
  return ordered_json::array({{{"alg", "SHA-256"}, {"content", sha256}}});
}

ordered_json property(const char* name, const std::string& value) {
  return {{"name", std::string("tfaot:") + name}, {"value", value}};
}

// "tensorflow-cpu 2.18.1"
ordered_json compiler_of(const std::string& engine) {
  const std::size_t blank = engine.rfind(' ');
  ordered_json compiler = {{"type", "application"},
                           {"bom-ref", "compiler"},
                           {"name", engine.substr(0, blank)},
                           {"description", "compiled the model; no part of the package"},
                           {"scope", "excluded"}};
  if (blank != std::string::npos) compiler["version"] = engine.substr(blank + 1);
  return compiler;
}

ordered_json runtime_of(const Manifest& manifest) {
  ordered_json runtime = {{"type", "library"},
                          {"bom-ref", "runtime"},
                          {"name", "tfaot-runtime"},
                          {"version", manifest.toolkit_version},
                          {"licenses", licenses_of(kOurLicense)}};
  for (const ManifestFile& file : manifest.files) {
    if (file.path == kRuntimeLibrary) runtime["hashes"] = hash_of(file.sha256);
  }
  return runtime;
}

ordered_json object_of(const ManifestFile& file) {
  return {{"type", "file"}, {"name", file.path}, {"hashes", hash_of(file.sha256)}};
}

// The model's own licence is its author's to say.
ordered_json model_of(const Manifest& manifest) {
  ordered_json model = {{"type", "machine-learning-model"},
                        {"bom-ref", "model"},
                        {"name", manifest.name},
                        {"version", manifest.version}};
  if (!manifest.author.empty()) model["author"] = manifest.author;
  if (!manifest.description.empty()) model["description"] = manifest.description;
  auto objects = ordered_json::array();
  for (const ManifestFile& file : manifest.files) {
    if (is_object_file(file.path)) objects.push_back(object_of(file));
  }
  model["components"] = objects;
  const auto sizes =
      mapped(manifest.batch_sizes, [](std::int64_t size) { return std::to_string(size); });
  model["properties"] = ordered_json::array(
      {property("source_sha256", manifest.source_sha256),
       property("target_triple", manifest.target_triple),
       property("cpu_levels", join(manifest.cpu_levels, " ")),
       property("batch_sizes", join(sizes, " ")), property("optimize", word_of(manifest.optimize)),
       property("weights_type", word_of(manifest.weights.type)),
       property("compute", word_of(manifest.compute)),
       property("tf_xla_flags", join(manifest.tf_xla_flags, " ")),
       property("xla_flags", join(manifest.xla_flags, " "))});
  return model;
}

}  // namespace

std::string sbom_to_json(const Manifest& manifest) {
  const ordered_json tool = {{"type", "application"},
                             {"name", "tfaot"},
                             {"version", manifest.toolkit_version},
                             {"licenses", licenses_of(kOurLicense)}};
  const ordered_json package = {{"type", "library"},
                                {"bom-ref", "package"},
                                {"name", manifest.tool_name},
                                {"version", manifest.version}};
  const ordered_json sbom = {
      {"bomFormat", "CycloneDX"},
      {"specVersion", "1.5"},
      {"version", 1},
      {"metadata",
       {{"tools", {{"components", ordered_json::array({tool})}}}, {"component", package}}},
      {"components", ordered_json::array(
                         {model_of(manifest), runtime_of(manifest), compiler_of(manifest.engine)})},
      {"dependencies",
       ordered_json::array(
           {{{"ref", "package"}, {"dependsOn", ordered_json::array({"model", "runtime"})}},
            {{"ref", "model"}, {"dependsOn", ordered_json::array({"runtime"})}}})}};
  return json_to_text(sbom, 2) + "\n";
}

}  // namespace tfaot::toolkit
