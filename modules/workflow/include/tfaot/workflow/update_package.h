// SPDX-License-Identifier: Apache-2.0
// Puts a retrained model's weights into a package; the code stays: what `tfaot update-weights`
// does. The package stays as it was until everything is made; a kill leaves the old one or the new
// one.
#pragma once

#include <string>

#include "tfaot/base/result.h"
#include "tfaot/records/manifest.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/tool_layout.h"

namespace tfaot::toolkit {

/// Which package, and which weights. Paths are absolute.
struct UpdateRequest {
  Path package;           ///< an archive or a package tree
  Path model;             ///< the retrained model, of the package's format
  Path output_directory;  ///< empty: a tree in place, an archive in the same folder
  std::string version;    ///< of the new package; empty: the package's
  EngineRun engine;
  bool allow_large = false;  ///< unpack an archive with far larger files
};

/// A package with the new weights.
struct UpdatedPackage {
  Manifest manifest;
  Path path;  ///< of the tree or the archive
};

/// Error: the model's architecture is not that of the package's code (the error says what differs),
/// the package has no shared weights, or its place is an installed version.
Result<UpdatedPackage> update_package(Context& context, const UpdateRequest& request);

}  // namespace tfaot::toolkit
