// SPDX-License-Identifier: Apache-2.0
// Loads a package into this process: finds its tree, links its code once into the user's cache, and
// opens it. What runs a package without a plugin starts here.
#pragma once

#include <memory>
#include <string>

#include "tfaot/base/result.h"
#include "tfaot/load/loaded_model.h"
#include "tfaot/records/model_spec.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

struct LoadRequest {
  /// A package tree or an archive, as named_path() knows them. Absolute.
  Path package;
  bool allow_large = false;  ///< of an archive, however large its unpacked files are
  std::string command;       ///< for errors: "tfaot run"
};

/// A package that was found, but not loaded.
struct FoundPackage {
  Path path;  ///< of the tree, or the archive
  bool is_archive = false;
  bool allow_large = false;
  Manifest manifest;
};
/// Only reads. Error: it is no package.
Result<FoundPackage> find_package(const Context& context, const LoadRequest& request);

/// The text of a tree's record. Error: the tree has none, or not the one of its manifest; says what
/// to do.
Result<std::string> read_package_record(const FileSystem& files, const Path& tree,
                                        const Manifest& manifest);

/// Hashes all files of the package. The first time, starts the linker; later loads the linked code
/// from the cache, if it has the hash that the linking process noted. Error: the package is
/// damaged, too old or for another machine; no cache folder is known; there is no linker.
Result<std::shared_ptr<const LoadedModel>> load_package(Context& context,
                                                        const FoundPackage& package);

/// A loaded package, and what it was compiled from (package_record_json.h).
struct LoadedPackage {
  std::shared_ptr<const LoadedModel> model;
  ModelSpec spec;
};
/// As load_package().
Result<LoadedPackage> load_whole_package(Context& context, const FoundPackage& package);

}  // namespace tfaot::toolkit
