// SPDX-License-Identifier: Apache-2.0
// A FileSystem in memory, for tests: same results and same error texts as RealFileSystem. Relative
// paths start at its root "/". It can be made to fail at a chosen change, like a full disk or a
// kill. One thread only.
#pragma once

#include <cerrno>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>

#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::testing {

class MemoryTree;

class MemoryFileSystem final : public FileSystem {
 public:
  // Which change fails. A change is one call of a non-const member of FileSystem, however much it
  // does inside.
  struct Fault {
    std::size_t change = 1;  // counted from the call of inject(); 1 is the next one
    bool all_after = false;  // every later one too, as after a kill at that moment
    int reason = ENOSPC;     // errno's value
  };

  MemoryFileSystem();
  // Starts with these files: MemoryFileSystem fs{{"/path", "contents"}};
  MemoryFileSystem(std::initializer_list<std::pair<const std::string, std::string>> files);
  ~MemoryFileSystem() override;

  void inject(const Fault& fault);
  // The number of changes since construction or the last inject(), so that a test can let each of
  // them fail in turn.
  std::size_t changes() const { return changes_; }
  bool is_executable(const Path& path) const;
  void set_executable(const Path& file);

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

 private:
  Status put(const Path& path, std::string_view contents);
  Status begin_change(const Path& path, const std::string& action);

  std::unique_ptr<MemoryTree> tree_;
  std::size_t changes_ = 0;
  std::int64_t clock_ = 0;  // ticks with each write and mark
  std::optional<Fault> fault_;
};

}  // namespace tfaot::toolkit::testing
