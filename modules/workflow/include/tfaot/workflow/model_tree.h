// SPDX-License-Identifier: Apache-2.0
// ModelSpec -> package tree: compile, generate, stage, hash, write. The previous tree stays
// complete until only the writing can still fail. Two calls must not work on one output folder at
// the same time.
#pragma once

#include <optional>

#include "tfaot/base/result.h"
#include "tfaot/compile/compile.h"
#include "tfaot/generate/generate.h"
#include "tfaot/package/package_types.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// How a tree is made.
struct ModelTreeOptions {
  Path output_directory;   // absolute; made if missing
  CompileOptions compile;  // work_directory is set by make_model_tree()
  GenerateOptions generate;
  std::vector<StagedFile> runtime;  // runtime_files()
  std::optional<Tuning> tuning;     // of code measured earlier
  bool stores_check = false;        // the code runs once, and the tree gets a check.json
};

/// A tree that was written.
struct ModelTree {
  Manifest manifest;
  std::size_t objects = 0;         // of code
  std::size_t cached_objects = 0;  // of these, taken from the cache
};

/// Compiles the model and writes its package tree. Error: the model cannot be compiled, or files
/// that tfaot did not write are in the way; the folder then stays as it was.
Result<ModelTree> make_model_tree(Context& context, const ModelSpec& spec,
                                  const ModelTreeOptions& options);

/// Where compiled objects are.
struct ObjectFolders {
  Path code;
  Path weights;  // its files are moved into the tree; a work folder
  bool code_is_movable = false;
};
/// The part of make_model_tree() after compiling, for existing code. REQUIRES: a WorkFolder holds
/// options.output_directory.
Result<Manifest> write_model_tree(Context& context, const ModelSpec& spec,
                                  const CompiledModel& compiled, const ObjectFolders& objects,
                                  const ModelTreeOptions& options);

/// What a model's version must look like, in the words of the config's rule; empty if `version` is
/// valid.
std::string version_rule(const std::string& version);

}  // namespace tfaot::toolkit
