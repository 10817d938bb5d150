// SPDX-License-Identifier: Apache-2.0
// Reads the regular files of a tar.zst or tar.gz one after another, in bounded memory. Refuses
// everything else: links, devices, folders, paths that leave the archive's folder, damage, bytes
// after the end. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "archive_handles.h"
#include "decompressed_archive.h"
#include "tfaot/base/file_system.h"

namespace tfaot::toolkit {

struct ArchiveFile {
  std::string path;        // is_package_path()
  std::uint64_t size = 0;  // as its header says
};

class ArchiveReader {
 public:
  // REQUIRES: fs outlives the reader. The file is opened once: if another file replaces it
  // meanwhile, that one is not read.
  static Result<ArchiveReader> open(const FileSystem& fs, const Path& archive_path);

  // The next file, or nothing after the last one. Then the archive has been read to its end.
  Result<std::optional<ArchiveFile>> next();
  // Feeds the contents of the file that next() returned: exactly its size in bytes.
  Status read(const ChunkSink& sink);

  Result<std::uint64_t> archive_size() const { return bytes_->source().file->size(); }

  // From here on the archive counts as made by tfaot: any fault in it is damage.
  void set_ours() { ours_ = true; }
  // An Error at the archive, with what to do about it: damaged, or not a model package at all.
  Error refused(const std::string& reason) const;

 private:
  explicit ArchiveReader(std::unique_ptr<DecompressedArchive> bytes);
  Error failure() const;
  Error failure_of(archive* handle) const;
  Error damaged(const std::string& reason) const;
  Status check_end() const;

  std::unique_ptr<DecompressedArchive> bytes_;
  ArchiveReadHandle handle_;  // after bytes_, so freed before it
  ArchiveFile current_;
  bool ours_ = false;
};

}  // namespace tfaot::toolkit
