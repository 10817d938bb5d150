// SPDX-License-Identifier: Apache-2.0
// A change of an area that is whole or not at all. All that takes space is made first, aside in
// AREA/.tfaot: the new entries, and copies of those that they replace. commit() then renames in the
// order of the calls, and takes everything back when one rename fails. Killed, it leaves what was
// renamed so far. A signal meanwhile has to wait. One at a time per area; one thread.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/interrupts.h"

namespace tfaot::toolkit {

class AreaUpdate {
 public:
  AreaUpdate(FileSystem& fs, Path area);
  AreaUpdate(const AreaUpdate&) = delete;
  AreaUpdate& operator=(const AreaUpdate&) = delete;
  ~AreaUpdate();

  // Entries that are as they should be already are left alone.
  Status put_link(const Path& target, const Path& link);
  Status put_file(const std::string& text, const Path& file);
  // The same for a file whose time is to be that of now.
  Status renew_file(const std::string& text, const Path& file);
  // Moves the folder `staging`; a folder at `destination` takes its place.
  Status put_folder(const Path& staging, const Path& destination);
  Status commit();

 private:
  struct Entry {
    Path coming;
    Path place;
    Path copy{};  // of what is replaced; empty: nothing is
    bool exchanged = false;
  };
  Path aside(const char* what) const;
  Status add(Entry entry);
  Status make_folder(const Path& folder);
  void take_back();

  const InterruptWatch watch_;
  FileSystem& fs_;
  Path area_;
  std::vector<Entry> entries_;
  std::vector<Path> made_;  // folders
  std::size_t renamed_ = 0;
  bool is_whole_ = false;
};

}  // namespace tfaot::toolkit
