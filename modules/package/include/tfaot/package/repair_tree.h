// SPDX-License-Identifier: Apache-2.0
// Repairs a package tree after a killed run. write_tree() (package.h) puts all new files into a
// side folder of the tree before it renames them, so an incomplete tree contains all that is needed
// to complete it. One thread.
#pragma once

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/manifest.h"

namespace tfaot::toolkit {

// Finishes or undoes what a killed run began. If all new files were written, they are moved in,
// because the old tree may be incomplete by then. Otherwise they are removed, and the tree is as it
// was. write_tree() calls this first. REQUIRES: no other process works on the tree.
Status repair_tree(FileSystem& fs, const Path& root);
// True if the tree has no manifest now, but repair_tree() would complete it.
bool is_torn_tree(const FileSystem& fs, const Path& root);
// The manifest that the tree will have then.
Result<Manifest> read_torn_tree(const FileSystem& fs, const Path& root);

}  // namespace tfaot::toolkit
