// SPDX-License-Identifier: Apache-2.0
// A change of a package tree that is whole or not at all: new files are put aside inside the tree,
// then everything is renamed (base/renames.h). repair_tree() ends what a kill left half done, or
// what could not be taken back. One at a time per tree; one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/renames.h"
#include "tfaot/package/package_types.h"

namespace tfaot::toolkit {

// Inside the tree while it changes. Once all files are aside, the new manifest is, too: the last
// one to be put there.
inline constexpr std::string_view kAsideFolder = ".tfaot-aside";
// The old manifest's name while there are renames.
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
  // Renames the file of that path, which was put aside, into the tree; what is there is kept aside.
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
