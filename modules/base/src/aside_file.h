// SPDX-License-Identifier: Apache-2.0
// A temporary file beside its final path. commit() renames it to that path in one step; without
// commit() it is removed. Readers see the old file or the new one, never half of one. While it is
// being written it is locked, so that leftovers of killed writers can be recognized. Writing fails
// once a signal interrupts the process. One thread.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "descriptor.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/interrupts.h"

namespace tfaot::toolkit {

// "link/" would name what the link points to. Functions that work on the entry itself must not use
// that.
Path without_trailing_slash(const Path& path);
// The folder that holds an entry, "." for a bare name.
Path folder_of(const Path& path);
// A name for a temporary entry in the same folder. In rare cases it may be taken.
Path aside_path(const Path& path);
// True if aside_path() could have made this name.
bool is_aside_name(std::string_view name);

class AsideFile {
 public:
  // Makes missing parents, which are removed again without commit(). `mode` is narrowed by the
  // umask.
  static Result<AsideFile> create(const Path& path, mode_t mode);
  AsideFile(AsideFile&& other) noexcept;
  AsideFile& operator=(AsideFile&&) = delete;
  ~AsideFile();

  Status write(std::string_view bytes);
  // Copies the permissions of the file that commit() will replace, if there is one.
  Status keep_permissions();
  // Copies the permissions and the time of another file. Nothing may be written after it.
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

// The one text for each way in which a file operation fails, so that both file systems say the
// same. Pure functions.

struct FileFailure {
  std::string action;    // "write": what could not be done
  int error_number = 0;  // errno's value: why
};

// "PATH: cannot ACTION: REASON", and advice if there is something to do.
Error file_error(const Path& path, const FileFailure& failure);

// True if this errno of a look at a path means that nothing is there.
bool is_absence(int error_number);

}  // namespace tfaot::toolkit
