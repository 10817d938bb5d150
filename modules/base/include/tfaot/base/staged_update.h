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
#include "tfaot/base/renames.h"

namespace tfaot::toolkit {

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
