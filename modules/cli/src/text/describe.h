// SPDX-License-Identifier: Apache-2.0
// Manifest or ModelSpec -> the text and the JSON that `tfaot info` prints. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tfaot/records/manifest.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

// Bytes of the package by use, from the manifest's file list.
struct PackageSizes {
  std::uint64_t code = 0;           // objects of the model, without weights
  std::uint64_t weights = 0;        // 0 if embedded in the code
  std::uint64_t model_weights = 0;  // in the model itself; 0: unknown
  std::uint64_t headers = 0;        // of the model, without the runtime's
  struct Object {
    std::int64_t batch_size = 0;
    std::string cpu_level;
    std::uint64_t bytes = 0;
  };
  std::vector<Object> objects;  // of the code, by batch size, then CPU level
};
PackageSizes package_sizes(const Manifest& manifest);

// "[batch, 28, 28]", or "[28, 28]" of a model without a batch.
std::string shape_text(const TensorSpec& tensor, BatchMode batch);

// One line of the description; may be empty.
struct Fact {
  std::string label;
  std::string value;
};
// All but the tensors and the files.
std::vector<Fact> facts_of(const Manifest& manifest);
std::vector<Fact> facts_of(const ModelSpec& spec);

std::string describe_manifest(const Manifest& manifest);
std::string describe_spec(const ModelSpec& spec);
// By name; what JSON cannot hold, such as infinity, as text.
nlohmann::ordered_json constants_to_json(const std::vector<ModelConstant>& constants);
nlohmann::ordered_json spec_to_json(const ModelSpec& spec);
// Indented, with a newline; bytes that are not UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace tfaot::toolkit
