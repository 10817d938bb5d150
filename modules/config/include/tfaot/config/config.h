// SPDX-License-Identifier: Apache-2.0
// YAML (or JSON) text -> validated ModelSpec with source marks in every error. The only user of
// yaml-cpp. Knows the format of the file, nothing of models: whether the SavedModel can be compiled
// is the engine's to say. Pure functions, safe from many threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

// What a command line or CMake call says instead of the file; empty members leave the file's word.
// Values are validated by the same rules; errors then name the option
// (--batch-sizes, --namespace, --cpu-levels, --target-triple, --weights, --headers, --rows) instead
// of a line and are usage errors.
struct ConfigOverrides {
  std::vector<std::string> batch_sizes = {};  // as they were written
  std::string namespace_name = {};
  std::vector<std::string> cpu_levels = {};
  std::string target_triple = {};
  std::optional<WeightsMode> weights = {};
  std::optional<HeadersMode> headers = {};
  std::optional<RowsMode> rows = {};
};

// The error is the first one in the order of the file; its notes name the others.
// REQUIRES: file is absolute. Checks that the model's source exists through `fs`.
Result<ModelSpec> load_model_spec(const FileSystem& fs, const Path& file,
                                  const ConfigOverrides& overrides = {});

// Reads these three keys alone: what else is wrong in the file is left to load_model_spec(), and
// the model itself may still have to be made.
Result<ModelIdentity> load_model_identity(const FileSystem& fs, const Path& file);

// For what turns out to be wrong after the config was read: names `key` ("model.outputs", or
// "model.outputs[0]" for an item) and its line, for which the file is read again; the model alone
// when the spec has no config_file.
Error config_error(const FileSystem& fs, const ModelSpec& spec, const std::string& key,
                   const std::string& message);

}  // namespace tfaot::toolkit
