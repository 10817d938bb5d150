// SPDX-License-Identifier: Apache-2.0
// Times and memory of packages, and of the same models in other engines: what `tfaot profile`
// measures. Each engine has a process of its own; all of one model take turns on one core.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/profile/measure.h"
#include "tfaot/records/profile.h"
#include "tfaot/workflow/array_files.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/load_package.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {

/// A model of another engine, with the same inputs and outputs as the package.
struct PeerModel {
  ProfiledEngine engine = ProfiledEngine::kOnnxRuntime;
  Path model;        ///< absolute
  std::string name;  ///< as the user wrote it
  Path library;      ///< the engine's shared library, absolute; of TensorFlow: empty
};

struct ProfiledModel {
  LoadRequest package;  ///< or a config or a model, which is compiled first
  std::string name;     ///< as the user wrote it
  std::vector<PeerModel> peers;
};

/// A peer that cannot run the model.
struct ProfileLeftOut {
  ProfiledEngine engine = ProfiledEngine::kOnnxRuntime;
  Error why;
};

struct ProfileRequest {
  std::vector<ProfiledModel> models;
  std::vector<std::int64_t> rows;  ///< numbers of rows; empty: the compiled sizes
  /// Of the packages; empty: the best one for this CPU. "all": those that it can run.
  std::vector<std::string> cpu_levels;
  std::vector<ComposeStrategy> strategies = {ComposeStrategy::kNormal};
  std::vector<std::string> batch_rules;  ///< of the strategy kRules
  InputSource inputs;                    ///< a file's rows are repeated as often as needed
  std::string inputs_name = "random";    ///< as the user wrote it
  MeasureOptions measure;
  std::optional<std::int64_t> core;  ///< empty: the last one that this process may use
  std::string machine;               ///< its name for the report; may be empty
  std::string toolkit_version;
  EngineRun engine;        ///< for configs and models
  CodeCacheOptions cache;  ///< for configs and models
  /// For them, as ConfigOverrides::dimensions; of packages: sizes, as RunRequest::dimensions.
  std::vector<std::string> dimensions;
  bool operations = false;  ///< also the share of each operation; all are configs or models
  std::optional<HeapTool> heap_tool;  ///< also the heap over time, by this
  /// Not null: peers that cannot run the model are left out, and it receives why.
  std::vector<ProfileLeftOut>* left_out = nullptr;
};

/// Error: this is not what a model of that engine looks like. `model` exists; `name`: as the user
/// wrote it.
Status check_peer_model(const FileSystem& files, ProfiledEngine engine, const Path& model,
                        const std::string& name);

/// Error: a path is no package, a model cannot be run by its engine, or the measuring programs are
/// missing. Doubtful times are warnings, in the profile and to the diagnostics.
Result<Profile> profile_models(Context& context, const ProfileRequest& request);

}  // namespace tfaot::toolkit
