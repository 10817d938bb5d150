// SPDX-License-Identifier: Apache-2.0
// The bytes of a tar.zst, tar.gz or tar, decompressed once, in pieces. Bytes that belong to no file
// are limited: a few compressed ones may stand for terabytes of zeros. Must not move, because
// libarchive keeps a pointer to it. One thread.
#pragma once

#include <cstdint>

#include "archive_handles.h"
#include "archive_source.h"

namespace tfaot::toolkit {

class DecompressedArchive {
 public:
  // Throws std::bad_alloc.
  explicit DecompressedArchive(ArchiveSource source);

  // False: the error of handle() says why.
  bool open();
  // Announces a file of this size; its bytes do not count towards the limit.
  void expect_file(std::uint64_t bytes);
  // A callback of archive_read_open().
  static la_ssize_t read(archive* reader, void* decompressed, const void** bytes);

  const ArchiveSource& source() const { return source_; }
  archive* handle() const { return handle_.get(); }
  // The number of compressed bytes read so far.
  std::uint64_t used() const;

 private:
  ArchiveSource source_;
  ArchiveReadHandle handle_;  // after source_, so freed before it
  bool is_empty_ = false;
  std::uint64_t given_ = 0;
  std::uint64_t expected_;
};

}  // namespace tfaot::toolkit
