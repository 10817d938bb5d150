// SPDX-License-Identifier: Apache-2.0
// The machine's file system; one stateless object is enough for a process. Once a signal interrupts
// the process (interrupts.h), all changes fail except remove_all().
#pragma once

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit {

class RealFileSystem final : public FileSystem {
 public:
  using FileSystem::look;
  using FileSystem::write_chunks;
  Result<FileKind> look(const Path& path, Links links) const override;
  Status read_chunks(const Path& path, const ChunkSink& sink) const override;
  Result<std::unique_ptr<OpenedFile>> open(const Path& path) const override;
  Result<std::uint64_t> size(const Path& path) const override;
  Result<std::vector<std::string>> list(const Path& directory) const override;
  Status write_chunks(const Path& path, const std::function<Status(const ChunkSink&)>& producer,
                      Durability durability) override;
  Result<bool> claim(const Path& path) override;
  Status copy_file(const Path& from, const Path& to) override;
  Status copy_entry(const Path& from, const Path& to) override;
  Status move_file(const Path& from, const Path& to) override;
  Status create_directories(const Path& path) override;
  Status rename(const Path& from, const Path& to) override;
  Status exchange(const Path& first, const Path& second) override;
  Status replace_symlink(const Path& target, const Path& link) override;
  Result<Path> read_symlink(const Path& link) const override;
  Status remove_all(const Path& path) override;
  Status remove_half_written(const Path& folder) override;
  Result<std::int64_t> last_used(const Path& path) const override;
  Status mark_used(const Path& path) override;
};

}  // namespace tfaot::toolkit
