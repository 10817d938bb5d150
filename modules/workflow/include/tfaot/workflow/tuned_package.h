// SPDX-License-Identifier: Apache-2.0
// Measures a package on this machine and puts the costs of its calls into it: what `tfaot tune`
// does. The package stays as it was until the measuring is done. Two tunings at the same time
// disturb each other.
#pragma once

#include <chrono>
#include <string>

#include "tfaot/base/result.h"
#include "tfaot/records/manifest.h"
#include "tfaot/tune/suggest.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// What is measured, and how. Paths are absolute.
struct TuneRequest {
  Path package;                  ///< a package tree or an archive
  Path output;                   ///< for an archive: where the tuned one goes; empty: in its place
  std::string compiler = "c++";  ///< links the measuring program
  std::chrono::milliseconds budget{10000};  ///< for measuring
  bool allow_large = false;                 ///< unpack an archive with far larger files
};

/// The form of a package.
enum class PackageForm { kTree, kArchive };

/// Only reads; a tree that a killed run left incomplete counts. Error: `path` is neither.
Result<PackageForm> package_form(const Context& context, const Path& path);

/// The manifest with its costs. Error: the package is damaged, installed, or too old to be tuned.
Result<Manifest> write_tuned_package(Context& context, const TuneRequest& request);

/// Which batch sizes to compile instead, judged by costs measured earlier. `name` is the package in
/// errors. Error: it was not tuned, or its model has no other sizes.
Result<Suggestion> suggest_for_package(const Context& context, const Path& package,
                                       const SuggestOptions& options, const std::string& name);

}  // namespace tfaot::toolkit
