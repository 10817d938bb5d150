// SPDX-License-Identifier: Apache-2.0
// Renames that are all done or all taken back. Each is done at once. Unless keep() is reached, all
// are taken back in reverse order, and the folders that were made for them are removed. Used by one
// thread.
#pragma once

#include <vector>

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit {

class Renames {
 public:
  explicit Renames(FileSystem& fs) : fs_(fs) {}
  Renames(const Renames&) = delete;
  Renames& operator=(const Renames&) = delete;
  ~Renames();

  // Makes a folder and those above it, and remembers which.
  Status make_folders(const Path& folder);
  Status rename(const Path& from, const Path& to);
  // For a file or link that is replaced. `copy` is a copy of it: taking back renames it to `to`.
  Status replace(const Path& from, const Path& to, const Path& copy);
  Status exchange(const Path& first, const Path& second);
  void keep();
  // What the destructor does first, for callers that have to know. False: something stayed as it
  // is now, and what was renamed before it, too.
  bool take_back();

 private:
  struct Done {
    Path from;
    Path to;
    Path copy{};
    bool exchanged = false;
  };

  FileSystem& fs_;
  std::vector<Done> done_;
  std::vector<Path> made_;  // folders, outermost first
};

}  // namespace tfaot::toolkit
