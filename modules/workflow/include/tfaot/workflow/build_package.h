// SPDX-License-Identifier: Apache-2.0
// A model's config -> package tree: what `tfaot compile` does. The folder is as it was until all is
// compiled; a kill leaves the old tree or the new one. Two calls with one output folder wait for
// each other.
#pragma once

#include <string>

#include "tfaot/base/result.h"
#include "tfaot/config/config.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/model_tree.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {

/// What to compile. Paths are absolute, or empty where that means something.
struct BuildRequest {
  Path config;                ///< YAML or JSON
  ConfigOverrides overrides;  ///< what is said instead of the config
  Path output_directory;      ///< made when missing; other files in it stay
  std::string tool_name;      ///< empty: default_tool_name()
  std::string tool_base;      ///< base folder in the tool file; empty: @TOOL_BASE@
  EngineRun engine;
  CodeCacheOptions cache;
  Path depfile;      ///< for make and Ninja: the manifest depends on every file read
  Path object_list;  ///< a response file with the paths of all objects
  /// Of callers that had to name the C++ class before the config was read (CMake): what they said.
  /// A folder of such a build is its own, whatever the model was called before.
  std::string expected_name;
  std::string expected_namespace;
  std::string expected_version;
  /// Where the user has written the config, when it was made of something else: errors of the
  /// config name this place.
  Location config_place;
};

/// Error: the config or the model is wrong, the target's runtime is missing, or the folder belongs
/// to something else. Diagnostics get the progress and, in detail, every file.
Result<ModelTree> build_package(Context& context, const BuildRequest& request);

}  // namespace tfaot::toolkit
