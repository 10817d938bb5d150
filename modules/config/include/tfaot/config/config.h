// SPDX-License-Identifier: Apache-2.0
// YAML (or JSON) text -> validated ModelSpec, with a place in the file for every error. The only
// user of yaml-cpp. Knows the format of the file but nothing about models: the engine decides
// whether a SavedModel can be compiled. Pure functions, safe from many threads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/model_spec.h"

namespace tfaot::toolkit {

// Values from a command line or CMake call that replace those in the file; empty members replace
// nothing. The same rules validate them. Errors then name the option (--batch-sizes, --namespace,
// --cpu-levels, --target-triple, --weights, --weights-type, --compute, --headers, --rows,
// --batch, --opset, --dimension) instead of a line, and are usage errors.
struct ConfigOverrides {
  std::string name = {};  // of a model without a config, as the next
  std::string version = {};
  std::vector<std::string> batch_sizes = {};  // as written
  std::string namespace_name = {};
  std::vector<std::string> cpu_levels = {};
  std::string target_triple = {};
  std::optional<WeightsMode> weights = {};
  std::optional<WeightsType> weights_type = {};
  std::optional<ComputeType> compute = {};
  std::optional<Optimization> optimize = {};
  std::optional<HeadersMode> headers = {};
  std::optional<RowsMode> rows = {};
  std::optional<BatchMode> batch = {};
  std::optional<OpsetMode> opset = {};
  std::vector<std::string> dimensions = {};  // "n_pf=50"; added to the file's, or in their place
};

// The error is the first one in file order; its notes name the others.
// REQUIRES: file is absolute. Checks through `fs` that the model's source exists.
Result<ModelSpec> load_model_spec(const FileSystem& fs, const Path& file,
                                  const ConfigOverrides& overrides = {});

// Of a model that has no config: named after its file, version 1.0.0, batch size 1, and otherwise
// the defaults. REQUIRES: model is absolute; a frozen graph needs a config, because it does not say
// what its inputs are.
Result<ModelSpec> spec_without_config(const FileSystem& fs, const Path& model, ModelFormat format,
                                      const ConfigOverrides& overrides = {});

// Reads only these three keys. Other faults in the file are left to load_model_spec(), and the
// model itself need not exist yet.
Result<ModelIdentity> load_model_identity(const FileSystem& fs, const Path& file);

// For faults found after the config was read: names `key` ("model.outputs", or "model.outputs[0]"
// for an item) and its line, for which it reads the file again. If the spec has no config_file, it
// names only the model.
Error config_error(const FileSystem& fs, const ModelSpec& spec, const std::string& key,
                   const std::string& message);

}  // namespace tfaot::toolkit
