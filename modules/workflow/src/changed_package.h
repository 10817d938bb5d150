// SPDX-License-Identifier: Apache-2.0
// Changes what a package says of itself, in its place: a tree, or an archive, which is unpacked
// aside and made again. Its objects stay. The package stays as it was until the change is made; a
// kill leaves the old one or the new one.
#pragma once

#include <functional>
#include <string>

#include "tfaot/base/result.h"
#include "tfaot/generate/generate.h"
#include "tfaot/records/manifest.h"
#include "tfaot/workflow/context.h"
#include "tfaot/workflow/load_package.h"

namespace tfaot::toolkit {

struct ChangedPlace {
  Path package;              // a package tree or an archive
  Path output;               // for an archive: where the new one goes; empty: in its place
  bool allow_large = false;  // unpack an archive with far larger files
  std::string instead;       // what to do with an installed version, which is not changed
};

// The manifest of the package and the files that change with it.
struct ChangedContents {
  Manifest manifest;
  std::vector<GeneratedFile> files;
};

// `change` gets the verified manifest, the tree, and a folder that is removed at the end. REQUIRES:
// the place is a tree or an archive.
using PackageChange =
    std::function<Result<ChangedContents>(Manifest manifest, const Path& tree, const Path& work)>;
Result<Manifest> change_package(Context& context, const ChangedPlace& place,
                                const PackageChange& change);

// For what `tfaot validate --record` puts into a manifest.

// find_package(); if `record`, also an Error for an installed package.
Result<FoundPackage> find_validated(const Context& context, const LoadRequest& request,
                                    bool record);

// A package as it was validated.
struct ValidatedPackage {
  const Path& path;
  const Manifest& manifest;
  bool allow_large = false;
};
// Error: the package is installed, or is no longer the one that was validated.
Status record_in_manifest(Context& context, const ValidatedPackage& package,
                          const std::function<void(Manifest& manifest)>& change);

}  // namespace tfaot::toolkit
