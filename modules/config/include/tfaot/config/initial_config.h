// SPDX-License-Identifier: Apache-2.0
// A model -> the text of an aot_config.yaml for it: the keys that must be set, and all others as
// comments with their defaults. Pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/model_description.h"

namespace tfaot::toolkit {

struct InitialConfig {
  std::string name;                            // of the model; must suit the rules of model.name
  std::string version;                         // of the package
  std::string source;                          // of the model, relative to the config
  std::vector<std::int64_t> batch_sizes = {};  // empty: the one that the model fixes, or a few
  bool no_batch = false;                       // also if the inputs look as if they had one
  bool any_opset = false;                      // of an ONNX model: newer ones than are known, too
};

// The signature that users most likely mean: 'serving_default' or else the first one. Error: there
// is none of that key.
Result<const DescribedSignature*> initial_signature(const ModelDescription& model,
                                                    const std::string& serving_key);

// Names of sizes that the model leaves open, other than the batch: keys of model.dimensions.
std::vector<std::string> open_dimensions(const DescribedSignature& signature);

// REQUIRES: the signature is one of the model's.
std::string initial_config(const ModelDescription& model, const DescribedSignature& signature,
                           const InitialConfig& values);

// A model's name from that of its folder or file: "my-tagger/saved_model" -> "my_tagger".
std::string suggested_model_name(const Path& model);

}  // namespace tfaot::toolkit
