// SPDX-License-Identifier: Apache-2.0
// A new file beside its final path: commit() renames it there in one step, and without commit() it
// vanishes. Readers see the old file or the new one, never a half. While it is written it is
// locked, so that what a killed writer left can be told from it. Writing fails once a signal
// interrupts the process. One thread.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string_view>
#include <utility>
#include <vector>

#include "descriptor.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/interrupts.h"

namespace tfaot::toolkit {

// "link/" would name what the link points to; what works on the entry itself must not.
Path without_trailing_slash(const Path& path);
// The folder that holds an entry, "." for a bare name.
Path folder_of(const Path& path);
// A name for a temporary entry in the same folder; may be taken already, however unlikely.
Path aside_path(const Path& path);
// Whether aside_path() may have made it.
bool is_aside_name(std::string_view name);

class AsideFile {
 public:
  // Makes missing parents, which go again without commit(). `mode` is narrowed by the umask.
  static Result<AsideFile> create(const Path& path, mode_t mode);
  AsideFile(AsideFile&& other) noexcept;
  AsideFile& operator=(AsideFile&&) = delete;
  ~AsideFile();

  Status write(std::string_view bytes);
  // Takes the permissions of the file that commit() will replace, if there is one.
  Status keep_permissions();
  // Takes the permissions and the time of another file. Nothing may be written after it.
  Status take_after(const struct stat& other);
  Status commit(Durability durability = Durability::kSynced);

 private:
  explicit AsideFile(Path target) : target_(std::move(target)) {}

  InterruptWatch watch_;
  Descriptor descriptor_;
  Path aside_;  // empty: nothing to remove
  Path target_;
  std::vector<Path> made_;  // folders, deepest first
};

}  // namespace tfaot::toolkit
