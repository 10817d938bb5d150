// SPDX-License-Identifier: Apache-2.0
// Writes regular files into a tar, compressed or not, through libarchive into a sink. The same
// files give the same bytes. An Error of the sink passes through libarchive unchanged. One thread.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tfaot/base/file_system.h"
#include "tfaot/package/package.h"

namespace tfaot::toolkit {

// Owners of libarchive's handles, made on the line the handle is born. One thread each.

struct FreeArchiveReader {
  void operator()(archive* handle) const { archive_read_free(handle); }
};
struct FreeArchiveWriter {
  void operator()(archive* handle) const { archive_write_free(handle); }
};
struct FreeArchiveEntry {
  void operator()(archive_entry* handle) const { archive_entry_free(handle); }
};

using ArchiveReadHandle = std::unique_ptr<archive, FreeArchiveReader>;
using ArchiveWriteHandle = std::unique_ptr<archive, FreeArchiveWriter>;
using ArchiveEntryHandle = std::unique_ptr<archive_entry, FreeArchiveEntry>;

// What libarchive says was wrong.
inline std::string error_text(archive* handle, const char* if_unknown = "no reason") {
  const char* const text = archive_error_string(handle);
  return text != nullptr ? text : if_unknown;
}

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

// The file from which libarchive reads an archive, in pieces. It is opened once, so that all pieces
// come from the same file. Must not move, because libarchive keeps a pointer to it. One thread.

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
