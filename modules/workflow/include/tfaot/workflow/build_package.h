// SPDX-License-Identifier: Apache-2.0
// A model's config, or a model alone -> package tree: what `tfaot compile` does. The folder stays
// as it was until everything is compiled; a kill leaves the old tree or the new one. Two calls with
// one output folder wait for each other.
#pragma once

#include <string>

#include "tfaot/base/result.h"
#include "tfaot/config/config.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/model_tree.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {

/// What to compile. Paths are absolute; some may be empty.
struct BuildRequest {
  Path config;                ///< YAML or JSON
  Path model;                 ///< instead of a config: as spec_at() takes it
  ConfigOverrides overrides;  ///< replace values of the config
  Path output_directory;      ///< made if missing; other files in it stay
  std::string tool_name;      ///< empty: default_tool_name()
  std::string tool_base;      ///< base folder in the tool file; empty: @TOOL_BASE@
  EngineRun engine;
  CodeCacheOptions cache;
  Path depfile;      ///< for make and Ninja: the manifest depends on every file read
  Path object_list;  ///< a response file with the paths of all objects
  /// For callers that had to know the C++ class before the config was read (CMake): the names that
  /// they used. The output folder then belongs to the build, so a tree of a renamed model is
  /// replaced.
  std::string expected_name;
  std::string expected_namespace;
  std::string expected_version;
  /// Where the user wrote what the options say, if not on a command line: all errors name it.
  Location place;
  /// Not null: it receives all that compiling finds. See CompileOptions.
  EngineCheck* check = nullptr;
  std::vector<CountedCode>* counted = nullptr;  ///< the same
  bool stores_check = true;  ///< unless it is only checked or counted; see ModelTreeOptions
};

/// Error: the config or the model is wrong, the target's runtime is missing, or the folder contains
/// something else. Diagnostics get the progress and, in detail, every file.
Result<ModelTree> build_package(Context& context, const BuildRequest& request);

}  // namespace tfaot::toolkit
