// SPDX-License-Identifier: Apache-2.0
// The only way to access files, so that logic can be tested without a disk. RealFileSystem is the
// machine's; the tests have one in memory (tests/support/memory_file_system.h). Paths are absolute
// or relative to the process's working directory, which nothing here ever changes. Real: safe from
// many threads. Memory: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// A piece of a file. Reading past the file's end gives fewer bytes, or none.
struct ByteRange {
  std::uint64_t offset = 0;
  std::size_t size = 0;
};

// What FileSystem::open() returns: an open regular file. It stays the same file when another one
// replaces it at its path. One thread.
class OpenedFile {
 public:
  virtual ~OpenedFile() = default;
  // One piece of the current contents.
  virtual Result<std::string> read_range(const ByteRange& range) const = 0;
  virtual Result<std::uint64_t> size() const = 0;
};

using Path = std::filesystem::path;

// Takes a file's contents piece by piece.
using ChunkSink = std::function<Status(std::string_view)>;

enum class FileKind {
  kMissing,  // certainly nothing exists there
  kFile,
  kDirectory,
  kSymlink,
  kOther,
  kUnknown  // cannot be found out: no permission, a loop of links, a failing disk
};

// Whether a call is about a link itself, or about what it leads to.
enum class Links { kKeep, kFollow };

// Whether a file outlives a crash of the machine right after it was written.
enum class Durability {
  kSynced,
  kScratch  // may be lost or empty: for files in a work folder, which nobody needs then
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // What a path leads to. A link to nothing is kSymlink with kKeep, kMissing with kFollow. Never
  // kUnknown: the Error says why it cannot be found out.
  virtual Result<FileKind> look(const Path& path, Links links) const = 0;
  Result<FileKind> look(const Path& path) const { return look(path, Links::kKeep); }
  // The same, with kUnknown instead of an Error: the next operation on the path will say why.
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
  // Writes what `producer` feeds to its sink into a temporary file in the same folder, then renames
  // it to `path`. Keeps the permissions of an existing file; creates parents. If it fails, nothing
  // is left behind.
  virtual Status write_chunks(const Path& path,
                              const std::function<Status(const ChunkSink&)>& producer,
                              Durability durability) = 0;
  Status write_chunks(const Path& path, const std::function<Status(const ChunkSink&)>& producer) {
    return write_chunks(path, producer, Durability::kSynced);
  }
  // The same for contents that are already in memory.
  Status replace_atomically(const Path& path, std::string_view contents,
                            Durability durability = Durability::kSynced);
  // Makes an empty file unless something exists at the path; creates parents. Returns whether it
  // made the file: if several processes try, exactly one gets true.
  virtual Result<bool> claim(const Path& path) = 0;
  // Copies a regular file like replace_atomically does; keeps the executable bit.
  virtual Status copy_file(const Path& from, const Path& to) = 0;
  // Copies a file with its permissions and its time, or a link itself, to put it back later.
  virtual Status copy_entry(const Path& from, const Path& to) = 0;
  // copy_file() for when nobody needs `from` any more: renames it if both are on one disk.
  virtual Status move_file(const Path& from, const Path& to) = 0;
  virtual Status create_directories(const Path& path) = 0;
  // Renames a file, link or folder; replaces an existing file or link in one step, never a
  // non-empty folder.
  virtual Status rename(const Path& from, const Path& to) = 0;
  // Swaps two existing files or folders in one step. Error if the disk cannot do that (NFS).
  virtual Status exchange(const Path& first, const Path& second) = 0;
  // Makes or replaces (in one step) the symlink `link` with the given target text.
  virtual Status replace_symlink(const Path& target, const Path& link) = 0;
  virtual Result<Path> read_symlink(const Path& link) const = 0;
  // Removes a tree, never following links out of it. Removing a missing path is not an error.
  virtual Status remove_all(const Path& path) = 0;
  // Removes temporary files that killed writers left in a folder, if the folder exists. Files that
  // living writers are writing stay, if the disk has locks.
  virtual Status remove_half_written(const Path& folder) = 0;
  // When a file was last written or marked by mark_used(). A larger number is later; the unit means
  // nothing else.
  virtual Result<std::int64_t> last_used(const Path& path) const = 0;
  virtual Status mark_used(const Path& path) = 0;
};

// Links are followed.
bool is_file(const FileSystem& fs, const Path& path);
bool is_folder(const FileSystem& fs, const Path& path);

// Where a file that the user named is to be written: `path`, or the file that a link there leads to
// or would lead to, as for cp. Files whose names tfaot chooses replace a link. Also removes what
// killed runs left in that folder. Error: the links form a circle.
Result<Path> place_for_named_file(FileSystem& fs, const Path& path);
// Writes it there.
Status write_named_file(FileSystem& fs, const Path& path, const std::string& text);

// `folder` and its parents, as far as they are missing, deepest first.
std::vector<Path> missing_folders(const FileSystem& fs, Path folder);

// Error if a folder between `root` and `path` is a file, or a link (which leads out of `root`).
Status check_own_folders(const FileSystem& fs, const Path& root, const Path& path);

enum class FolderLinks {
  kSkip,   // a link to a folder is not entered
  kFollow  // it is entered, unless it leads to a folder that contains it
};
// All regular files below `root`, as paths relative to it with '/', sorted; links to files count as
// files.
Result<std::vector<std::string>> list_files_recursively(
    const FileSystem& fs, const Path& root, FolderLinks folder_links = FolderLinks::kSkip);

// The path without any links; a link in a circle stays as it is. Nothing need exist there.
Result<Path> real_path(const FileSystem& fs, const Path& path);

}  // namespace tfaot::toolkit
