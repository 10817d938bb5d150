// SPDX-License-Identifier: Apache-2.0
// A change of files, links and folders that happens completely or not at all. Everything that takes
// space is made first, in a work folder on the same disk: the new entries, and copies of those that
// they replace. commit() then renames in the order of the calls; if one rename fails, it undoes all
// of them. A kill leaves the renames done so far. Signals wait until commit() is done. The work
// folder is removed at the end. Used by one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/interrupts.h"

namespace tfaot::toolkit {

// Renames that are all kept or all undone. Each takes effect at once. Unless keep() is called, all
// are undone in reverse order, and the folders that were made for them are removed. Used by one
// thread.

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

class StagedUpdate {
 public:
  StagedUpdate(FileSystem& fs, Path work);
  StagedUpdate(const StagedUpdate&) = delete;
  StagedUpdate& operator=(const StagedUpdate&) = delete;
  ~StagedUpdate();

  // Entries that are already correct stay untouched.
  Status put_link(const Path& target, const Path& link);
  Status put_file(std::string_view text, const Path& file);
  // The same for a file; its time becomes the current time.
  Status renew_file(std::string_view text, const Path& file);
  // Moves the folder `staging`; it replaces a folder at `destination`. `advice` says what to do if
  // the disk cannot exchange folders.
  Status put_folder(const Path& staging, const Path& destination, std::string advice);
  // A free name in the work folder, for a file that the caller makes and hands to put_made().
  Path aside();
  Status put_made(const Path& made, const Path& place);
  // Removes a file or link.
  Status take_out(const Path& place);
  Status commit();

 private:
  struct Entry {
    Path from;
    Path to;
    Path copy{};           // of the replaced entry; empty: none
    std::string advice{};  // not empty: both are exchanged
  };

  const InterruptWatch watch_;
  FileSystem& fs_;
  const Path work_;
  int names_ = 0;  // how many aside() gave out
  std::vector<Entry> entries_;
  Renames renames_;
};

}  // namespace tfaot::toolkit
