// SPDX-License-Identifier: Apache-2.0
// Renames that are all kept or all undone. Each takes effect at once. Unless keep() is called, all
// are undone in reverse order, and the folders that were made for them are removed. Used by one
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

  // Makes a folder and its missing parents, and remembers which it made.
  Status make_folders(const Path& folder);
  Status rename(const Path& from, const Path& to);
  // For a file or link that is replaced. `copy` is a copy of the replaced one: undoing renames
  // `copy` to `to`.
  Status replace(const Path& from, const Path& to, const Path& copy);
  Status exchange(const Path& first, const Path& second);
  void keep();
  // What the destructor does first, for callers that need the result. False: something could not be
  // undone; it and all renames before it stay as they are now.
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
