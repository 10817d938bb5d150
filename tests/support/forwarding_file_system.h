// SPDX-License-Identifier: Apache-2.0
// A FileSystem that passes every call on to another one; tests override the call that they want to
// change.
#pragma once

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit::testing {

class ForwardingFileSystem : public FileSystem {
 public:
  // REQUIRES: target outlives this.
  explicit ForwardingFileSystem(FileSystem& target) : target_(target) {}

  using FileSystem::look;
  using FileSystem::write_chunks;
  Result<FileKind> look(const Path& path, Links links) const override {
    return target_.look(path, links);
  }
  Status read_chunks(const Path& path, const ChunkSink& sink) const override {
    return target_.read_chunks(path, sink);
  }
  Result<std::unique_ptr<OpenedFile>> open(const Path& path) const override {
    return target_.open(path);
  }
  Result<std::uint64_t> size(const Path& path) const override { return target_.size(path); }
  Result<std::vector<std::string>> list(const Path& directory) const override {
    return target_.list(directory);
  }
  Status write_chunks(const Path& path, const std::function<Status(const ChunkSink&)>& producer,
                      Durability durability) override {
    return target_.write_chunks(path, producer, durability);
  }
  Result<bool> claim(const Path& path) override { return target_.claim(path); }
  Status copy_file(const Path& from, const Path& to) override {
    return target_.copy_file(from, to);
  }
  Status copy_entry(const Path& from, const Path& to) override {
    return target_.copy_entry(from, to);
  }
  Status move_file(const Path& from, const Path& to) override {
    return target_.move_file(from, to);
  }
  Status create_directories(const Path& path) override { return target_.create_directories(path); }
  Status rename(const Path& from, const Path& to) override { return target_.rename(from, to); }
  Status exchange(const Path& first, const Path& second) override {
    return target_.exchange(first, second);
  }
  Status replace_symlink(const Path& link_target, const Path& link) override {
    return target_.replace_symlink(link_target, link);
  }
  Result<Path> read_symlink(const Path& link) const override { return target_.read_symlink(link); }
  Status remove_all(const Path& path) override { return target_.remove_all(path); }
  Status remove_half_written(const Path& folder) override {
    return target_.remove_half_written(folder);
  }
  Result<std::int64_t> last_used(const Path& path) const override {
    return target_.last_used(path);
  }
  Status mark_used(const Path& path) override { return target_.mark_used(path); }

 protected:
  FileSystem& target() const { return target_; }

 private:
  FileSystem& target_;
};

}  // namespace tfaot::toolkit::testing
