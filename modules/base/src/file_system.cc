// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "tfaot/base/file_system.h"
#include "tfaot/base/interrupts.h"

namespace tfaot::toolkit {
namespace {

// The limit for a folder whose links are followed: a few folders that link to each other make
// millions of entries.
constexpr std::size_t kMostEntries = 10'000;

// More than any system follows: such links form a circle.
constexpr int kMostLinks = 64;

class FileCollector {
 public:
  FileCollector(const FileSystem& fs, Path root, FolderLinks folder_links)
      : fs_(fs), root_(std::move(root)), folder_links_(folder_links) {}

  Status collect_all() {
    TFAOT_ASSIGN(const Path real, real_path(fs_, root_));
    return collect(root_, "", real);
  }

  std::vector<std::string> sorted_files() && {
    std::sort(files_.begin(), files_.end());
    return std::move(files_);
  }

 private:
  // `real`: the directory without links.
  Status collect(const Path& directory, const std::string& prefix, const Path& real) {
    TFAOT_TRY(check_interrupts());
    TFAOT_ASSIGN(const auto names, fs_.list(directory));
    entered_.push_back(real);
    for (const std::string& name : names) {
      TFAOT_TRY(check_count());
      TFAOT_TRY(add(directory / name, prefix + name, real / name));
    }
    entered_.pop_back();
    return {};
  }

  // Only a link can lead to a folder that contains an entered one.
  bool leads_back(const Path& real) const {
    return std::any_of(entered_.begin(), entered_.end(), [&real](const Path& folder) {
      return std::mismatch(real.begin(), real.end(), folder.begin(), folder.end()).first ==
             real.end();
    });
  }

  Status add(const Path& path, const std::string& name, Path real) {
    FileKind kind = fs_.kind(path);
    if (kind == FileKind::kSymlink && is_file(fs_, path)) kind = FileKind::kFile;
    const bool follow = kind == FileKind::kSymlink && folder_links_ == FolderLinks::kFollow;
    if (follow && is_folder(fs_, path)) {
      kind = FileKind::kDirectory;
      TFAOT_ASSIGN(real, real_path(fs_, path));
      if (leads_back(real)) return {};
    }
    if (kind == FileKind::kFile) files_.push_back(name);
    if (folder_links_ == FolderLinks::kFollow) TFAOT_TRY(check_kind(path, kind));
    return kind == FileKind::kDirectory ? collect(path, name + "/", real) : Status();
  }

  Status check_count() {
    if (folder_links_ == FolderLinks::kSkip || ++entries_ <= kMostEntries) return {};
    return fail(Error::at({root_.string()},
                          fmt::format("the folder holds more than {} files", kMostEntries))
                    .note("links to folders are followed: remove those that lead to each other"));
  }

  // Reading a pipe would wait, and a device has no end.
  Status check_kind(const Path& path, FileKind kind) const {
    if (kind == FileKind::kSymlink) {
      TFAOT_ASSIGN(const Path real, real_path(fs_, path));
      kind = fs_.kind(real);
    }
    if (kind != FileKind::kOther) return {};
    return fail(Error::at({path.string()}, "neither a file nor a folder")
                    .note("pipes, sockets and devices cannot be read as files: remove it"));
  }

  const FileSystem& fs_;
  const Path root_;
  const FolderLinks folder_links_;
  std::size_t entries_ = 0;
  std::vector<std::string> files_;
  std::vector<Path> entered_;  // from the root to the current folder, without links
};

}  // namespace

Result<std::string> FileSystem::read(const Path& path) const {
  std::string contents;
  TFAOT_TRY(read_chunks(path, [&contents](std::string_view chunk) -> Status {
    contents += chunk;
    return {};
  }));
  return contents;
}

Status FileSystem::replace_atomically(const Path& path, std::string_view contents,
                                      Durability durability) {
  if (kind(path, Links::kFollow) == FileKind::kOther) {
    return fail(Error::at({path.string()}, "is a device or a pipe, which a file would replace")
                    .note("name a file"));
  }
  return write_chunks(
      path, [&](const ChunkSink& sink) { return sink(contents); }, durability);
}

Result<Path> real_path(const FileSystem& fs, const Path& path) {
  Path real;
  int links = 0;
  std::deque<Path> rest(path.begin(), path.end());
  while (!rest.empty()) {
    const Path part = std::exchange(rest.front(), {});
    rest.pop_front();
    if (part.empty() || part == ".") continue;
    if (part == ".." && real.has_relative_path() && real.filename() != "..") {
      real = real.parent_path();
    } else if (fs.kind(real / part) == FileKind::kSymlink && ++links <= kMostLinks) {
      TFAOT_ASSIGN(const Path target, fs.read_symlink(real / part));
      rest.insert(rest.begin(), target.begin(), target.end());
    } else {
      real /= part;
    }
  }
  return real;
}

bool is_file(const FileSystem& fs, const Path& path) {
  return fs.kind(path, Links::kFollow) == FileKind::kFile;
}

bool is_folder(const FileSystem& fs, const Path& path) {
  return fs.kind(path, Links::kFollow) == FileKind::kDirectory;
}

Result<Path> place_for_named_file(FileSystem& fs, const Path& path) {
  TFAOT_TRY(fs.look(path, Links::kFollow));
  Path place = path;
  if (fs.kind(path) == FileKind::kSymlink) {
    TFAOT_ASSIGN(place, real_path(fs, path));
  }
  static_cast<void>(fs.remove_half_written(place.parent_path()));
  return place;
}

Status write_named_file(FileSystem& fs, const Path& path, const std::string& text) {
  TFAOT_ASSIGN(const Path place, place_for_named_file(fs, path));
  return fs.replace_atomically(place, text);
}

std::vector<Path> missing_folders(const FileSystem& fs, Path folder) {
  std::vector<Path> missing;
  for (; folder.has_relative_path() && fs.kind(folder) == FileKind::kMissing;
       folder = folder.parent_path()) {
    missing.push_back(folder);
  }
  return missing;
}

Status check_own_folders(const FileSystem& fs, const Path& root, const Path& path) {
  Path folder = root;
  for (const Path& part : path.lexically_relative(root).parent_path()) {
    folder /= part;
    TFAOT_ASSIGN(const FileKind kind, fs.look(folder));
    if (kind == FileKind::kMissing) return {};
    if (kind == FileKind::kDirectory) continue;
    return fail(Error::at({folder.string()}, "not a folder, so nothing can be put below it")
                    .note("links out of " + root.string() + " are not followed"));
  }
  return {};
}

Result<std::vector<std::string>> list_files_recursively(const FileSystem& fs, const Path& root,
                                                        FolderLinks folder_links) {
  FileCollector collector(fs, root, folder_links);
  TFAOT_TRY(collector.collect_all());
  return std::move(collector).sorted_files();
}

}  // namespace tfaot::toolkit
