// SPDX-License-Identifier: Apache-2.0
// Writes regular files into a tar, compressed or not, through libarchive into a sink. The same
// files give the same bytes. An Error of the sink passes through libarchive unchanged. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "archive_handles.h"
#include "tfaot/base/file_system.h"
#include "tfaot/package/package.h"

namespace tfaot::toolkit {

class ArchiveWriter {
 public:
  // REQUIRES: `sink` outlives the writer. `name` is for errors.
  ArchiveWriter(Path name, const ChunkSink& sink);
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  // Call one of the two first. `level`: of compression; 0: the format's default.
  Status open(ArchiveFormat format, int level);
  Status open_uncompressed();
  Status begin_file(const std::string& path, std::uint64_t size);
  Status write(std::string_view bytes);
  Status close();

 private:
  Status open_with(int (*add_filter)(archive*), const char* filter, int level);
  static la_ssize_t write_callback(archive*, void* self, const void* bytes, std::size_t size);
  Status check(int code) const;
  Status failure() const;

  Path name_;
  const ChunkSink& sink_;
  std::optional<Error> error_;
  ArchiveEntryHandle entry_{archive_entry_new()};
  ArchiveWriteHandle handle_{archive_write_new()};  // last: freeing it may call write_callback
};

}  // namespace tfaot::toolkit
