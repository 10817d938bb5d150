// SPDX-License-Identifier: Apache-2.0
// A change of a package tree that happens completely or not at all. New files are first written to
// a side folder inside the tree, then everything is renamed (base/renames.h). repair_tree()
// finishes what a kill interrupted, or what could not be undone. One at a time per tree; one
// thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/renames.h"
#include "tfaot/package/package_types.h"

namespace tfaot::toolkit {

// Exists inside the tree while it changes. The new manifest is written there last: once it is
// there, all files are.
inline constexpr std::string_view kAsideFolder = ".tfaot-aside";
// The old manifest's name during the renames.
inline constexpr std::string_view kOldManifestName = ".manifest.json.old";

inline Path new_files(const Path& root) { return root / kAsideFolder / "new"; }
inline Path old_files(const Path& root) { return root / kAsideFolder / "old"; }

class TreeUpdate {
 public:
  TreeUpdate(FileSystem& fs, Path root);
  TreeUpdate(const TreeUpdate&) = delete;
  TreeUpdate& operator=(const TreeUpdate&) = delete;
  ~TreeUpdate();

  Status put_aside(const StagedFile& file);
  // Moves the file of that path from the side folder into the tree; an existing file is kept aside.
  Status move_in(const std::string& path);
  Status take_out(const std::string& path);
  Status rename(const Path& from, const Path& to);
  void keep() { renames_.keep(); }

 private:
  FileSystem& fs_;
  Path root_;
  Renames renames_;
};

}  // namespace tfaot::toolkit
