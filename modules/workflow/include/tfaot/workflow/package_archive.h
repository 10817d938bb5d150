// SPDX-License-Identifier: Apache-2.0
// Package tree -> archive: what `tfaot package` does. The archive is written to a temporary file
// and renamed.
#pragma once

#include "tfaot/base/result.h"
#include "tfaot/package/package_types.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// What to pack. Paths are absolute.
struct ArchiveRequest {
  Path tree;              ///< written by build_package() and others
  Path output_directory;  ///< made if missing
  ArchiveFormat format = ArchiveFormat::kTarZst;
};

/// The tool files lose the base that they were made with: an archive contains no path of this
/// machine. Error: it is not a package tree, or one of its files was changed.
Result<Package> pack_tree(Context& context, const ArchiveRequest& request);

}  // namespace tfaot::toolkit
