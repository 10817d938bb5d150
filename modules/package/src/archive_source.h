// SPDX-License-Identifier: Apache-2.0
// The file from which libarchive reads an archive, in pieces. It is opened once, so that all pieces
// come from the same file. Must not move, because libarchive keeps a pointer to it. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "archive_handles.h"
#include "tfaot/base/file_system.h"

namespace tfaot::toolkit {

struct ArchiveSource {
  std::unique_ptr<OpenedFile> file;
  Path path;  // for errors
  std::uint64_t offset = 0;
  std::string buffer;
  std::optional<Error> error;  // of the file system

  // Callbacks of archive_read_open().
  static la_ssize_t read(archive*, void* source, const void** bytes);
  static la_int64_t seek(archive*, void* source, la_int64_t offset, int whence);
};

}  // namespace tfaot::toolkit
