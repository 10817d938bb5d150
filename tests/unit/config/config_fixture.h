// SPDX-License-Identifier: Apache-2.0
// Loads a config text as /m/aot_config.yaml beside a SavedModel, a frozen graph and an ONNX file,
// all in memory.
#pragma once

#include <map>
#include <string>

#include "tests/support/memory_file_system.h"
#include "tfaot/config/config.h"

namespace tfaot::toolkit::testing {

inline constexpr const char* kConfigFile = "/m/aot_config.yaml";

inline Result<ModelSpec> load_text(const std::string& text, const ConfigOverrides& overrides = {}) {
  const MemoryFileSystem fs({{kConfigFile, text},
                             {"/m/saved_model/saved_model.pb", "model"},
                             {"/m/frozen_graph.pb", "graph"},
                             {"/m/model.onnx", "onnx"},
                             {"/m/model.mlir", "module {}"}});
  return load_model_spec(fs, kConfigFile, overrides);
}

// The text of the error, or what is wrong with the test.
inline std::string error_of(const Result<ModelSpec>& result) {
  return result ? "(no error)" : result.error().text();
}

}  // namespace tfaot::toolkit::testing
