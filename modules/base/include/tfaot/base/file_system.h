// SPDX-License-Identifier: Apache-2.0
// The only way to files, so that logic is tested without a disk: RealFileSystem is the machine's,
// and tests bring one in memory (tests/support/memory_file_system.h). Paths are absolute or
// relative to the process's working directory, which nothing here ever changes. Real: safe from
// many threads. Memory: one thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/opened_file.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

using Path = std::filesystem::path;

// Takes a file's contents piece by piece.
using ChunkSink = std::function<Status(std::string_view)>;

enum class FileKind {
  kMissing,  // there is certainly nothing
  kFile,
  kDirectory,
  kSymlink,
  kOther,
  kUnknown  // it cannot be told: no permission, a loop of links, a disk that fails
};

// Whether a call speaks of a link itself, or of what it leads to.
enum class Links { kKeep, kFollow };

// Whether a file outlives a crash of the machine right after it was written.
enum class Durability {
  kSynced,
  kScratch  // it may be lost or empty: for files of a work folder, which nobody looks for then
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // What a path leads to. A link to nothing is kSymlink with kKeep, kMissing with kFollow. Never
  // kUnknown: an Error says why it cannot be told.
  virtual Result<FileKind> look(const Path& path, Links links) const = 0;
  Result<FileKind> look(const Path& path) const { return look(path, Links::kKeep); }
  // The same, with kUnknown instead of an Error: what one does next will say why.
  FileKind kind(const Path& path, Links links = Links::kKeep) const {
    return look(path, links).value_or(FileKind::kUnknown);
  }
  // Whole contents of a regular file (links are followed). Error: missing, a directory, unreadable.
  Result<std::string> read(const Path& path) const;
  // Feeds a file in pieces of at most 1 MiB; stops at the first failing sink.
  virtual Status read_chunks(const Path& path, const ChunkSink& sink) const = 0;
  // Opens a regular file (links are followed). The file system must outlive it.
  virtual Result<std::unique_ptr<OpenedFile>> open(const Path& path) const = 0;
  // One piece of a regular file (links are followed).
  Result<std::string> read_range(const Path& path, const ByteRange& range) const {
    TFAOT_ASSIGN(const auto file, open(path));
    return file->read_range(range);
  }
  // Size of a regular file in bytes (links are followed).
  virtual Result<std::uint64_t> size(const Path& path) const = 0;
  // Names (not paths) of a folder's entries, sorted by byte value.
  virtual Result<std::vector<std::string>> list(const Path& directory) const = 0;
  // Writes aside in the same folder what `producer` feeds the sink it is given, then renames over
  // `path`, whose permissions stay; parents are created. Nothing is left when it fails.
  virtual Status write_chunks(const Path& path,
                              const std::function<Status(const ChunkSink&)>& producer,
                              Durability durability) = 0;
  Status write_chunks(const Path& path, const std::function<Status(const ChunkSink&)>& producer) {
    return write_chunks(path, producer, Durability::kSynced);
  }
  // The same for contents that are there.
  Status replace_atomically(const Path& path, std::string_view contents,
                            Durability durability = Durability::kSynced);
  // Makes an empty file unless there is something already; parents are created. Whether it did: of
  // several processes that try, one.
  virtual Result<bool> claim(const Path& path) = 0;
  // Copies a regular file like replace_atomically does; keeps the executable bit.
  virtual Status copy_file(const Path& from, const Path& to) = 0;
  // Copies a file with its permissions and its time, or a link itself, to put it back later.
  virtual Status copy_entry(const Path& from, const Path& to) = 0;
  // copy_file() when nobody needs `from` any more: renamed where both lie on one disk.
  virtual Status move_file(const Path& from, const Path& to) = 0;
  virtual Status create_directories(const Path& path) = 0;
  // Renames a file, link or folder; replaces an existing file or link in one step, never a
  // non-empty folder.
  virtual Status rename(const Path& from, const Path& to) = 0;
  // Swaps two existing files or folders in one step. Error where the disk cannot do that (NFS).
  virtual Status exchange(const Path& first, const Path& second) = 0;
  // Makes or replaces (in one step) the symlink `link` with the given target text.
  virtual Status replace_symlink(const Path& target, const Path& link) = 0;
  virtual Result<Path> read_symlink(const Path& link) const = 0;
  // Removes a tree, never following links out of it. Removing what is missing is no error.
  virtual Status remove_all(const Path& path) = 0;
  // Removes what writers that were killed left aside in a folder, if there is one; what writers
  // that live are writing stays, where the disk has locks.
  virtual Status remove_half_written(const Path& folder) = 0;
  // When a file was last written or marked by mark_used(): larger is later, in no unit that means
  // more.
  virtual Result<std::int64_t> last_used(const Path& path) const = 0;
  virtual Status mark_used(const Path& path) = 0;
};

// Links are followed.
bool is_file(const FileSystem& fs, const Path& path);
bool is_folder(const FileSystem& fs, const Path& path);

// `folder` and those above it that are missing, deepest first.
std::vector<Path> missing_folders(const FileSystem& fs, Path folder);

// Error when a folder between `root` and `path` is a link, which leads out of `root`, or a file.
Status check_own_folders(const FileSystem& fs, const Path& root, const Path& path);

enum class FolderLinks {
  kSkip,   // a link to a folder is not entered
  kFollow  // it is, unless it leads to a folder that it lies in
};
// All regular files below `root`, as paths relative to it with '/', sorted; links to files count as
// files.
Result<std::vector<std::string>> list_files_recursively(
    const FileSystem& fs, const Path& root, FolderLinks folder_links = FolderLinks::kSkip);

}  // namespace tfaot::toolkit
