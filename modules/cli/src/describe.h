// SPDX-License-Identifier: Apache-2.0
// Manifest or ModelSpec -> the text and the JSON that `tfaot info` prints. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tfaot/config/config_types.h"
#include "tfaot/generate/generate_types.h"

namespace tfaot {

// Bytes of the package by use, from the manifest's file list.
struct PackageSizes {
  std::uint64_t code = 0;     // objects of the model, weights apart
  std::uint64_t weights = 0;  // 0 when embedded in the code
};
PackageSizes package_sizes(const Manifest& manifest);

std::string describe_manifest(const Manifest& manifest);
std::string describe_spec(const ModelSpec& spec);
nlohmann::ordered_json spec_to_json(const ModelSpec& spec);

}  // namespace tfaot
