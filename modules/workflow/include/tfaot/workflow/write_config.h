// SPDX-License-Identifier: Apache-2.0
// Model -> a commented aot_config.yaml: what `tfaot init` does. Starts the engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// What the config should say. Paths are absolute.
struct ConfigRequest {
  Path model;                             ///< of any format
  Path config;                            ///< the file to write; must not exist
  std::string name;                       ///< of the model; empty: from the model's folder
  std::string version = "1.0.0";          ///< of the package
  std::string serving_key;                ///< empty: 'serving_default', or else the first one
  std::vector<std::int64_t> batch_sizes;  ///< empty: the one that the model fixes, or a few
};

/// What was written.
struct WrittenConfig {
  std::string name;                          ///< of the model
  std::string signature;                     ///< its key; empty for formats without signatures
  std::vector<std::string> open_dimensions;  ///< whose sizes the user must choose
  std::string output;                        ///< a folder for the package, from the current one
  std::string newer_opset;  ///< which opset is newer than tfaot knows; empty if it knows it
  std::string problem;  ///< why the model cannot be compiled as it is; empty if nothing is known
};

/// Error: it is no model, the config exists, or a value does not suit its key. Nothing is written
/// then.
Result<WrittenConfig> write_config(Context& context, const ConfigRequest& request);

}  // namespace tfaot::toolkit
