// SPDX-License-Identifier: Apache-2.0
// What a killed run left of a package tree. write_tree() (package.h) puts all new files aside in
// the tree before it renames them; so a tree in pieces holds all that makes it whole. One thread.
#pragma once

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/manifest.h"

namespace tfaot::toolkit {

// Ends what a killed run began: where all new files were aside, they go in, as the old tree is in
// pieces; else what was put aside goes, and the tree is as it was. write_tree() does so first.
// REQUIRES: no other process works on the tree.
Status repair_tree(FileSystem& fs, const Path& root);
// Whether repair_tree() would make a whole tree of what has no manifest now.
bool is_torn_tree(const FileSystem& fs, const Path& root);
// The manifest that such a tree will have then.
Result<Manifest> read_torn_tree(const FileSystem& fs, const Path& root);

}  // namespace tfaot::toolkit
