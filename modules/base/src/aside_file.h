// SPDX-License-Identifier: Apache-2.0
// A new file beside its final path: commit() renames it there in one step, and without commit() it
// vanishes. Readers see the old file or the new one, never a half. One thread.
#pragma once

#include <sys/types.h>

#include <string_view>

#include "descriptor.h"
#include "tfaot/base/file_system.h"

namespace tfaot {

// "link/" would name what the link points to; what works on the entry itself must not.
Path without_trailing_slash(const Path& path);
// The folder that holds an entry, "." for a bare name.
Path folder_of(const Path& path);
// A name for a temporary entry in the same folder; may be taken already, however unlikely.
Path aside_path(const Path& path);
bool is_aside_name(std::string_view name);

class AsideFile {
 public:
  // Makes missing parents. `mode` is narrowed by the umask.
  static Result<AsideFile> create(const Path& path, mode_t mode);
  AsideFile(AsideFile&& other) noexcept;
  AsideFile& operator=(AsideFile&&) = delete;
  ~AsideFile();

  Status write(std::string_view bytes);
  // Takes the permissions of the file that commit() will replace, if there is one.
  Status keep_permissions();
  // kNo: the file may be lost, or empty, when the machine crashes.
  enum class Sync { kYes, kNo };
  Status commit(Sync sync = Sync::kYes);

 private:
  AsideFile(Descriptor descriptor, Path aside, Path target);

  Descriptor descriptor_;
  Path aside_;  // empty: nothing to remove
  Path target_;
};

}  // namespace tfaot
