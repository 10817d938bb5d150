// SPDX-License-Identifier: Apache-2.0
#include "tfaot/package/source_archive.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>

#include "archive_writer.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/limits.h"
#include "tfaot/package/package.h"
#include "tfaot/records/names.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kCopiedPiece = 1 << 20;

// The path without a leading "./" and a trailing '/'; nothing if it may lead out of the archive's
// folder.
std::optional<std::string> inner_path(const char* text) {
  if (text == nullptr || *text == '/') return std::nullopt;
  const Path path = Path(text).lexically_normal();
  if (path.empty() || path.begin()->string() == "..") return std::nullopt;
  return (path.has_filename() ? path : path.parent_path()).string();
}

// Writes one entry after another below `destination`.
class Unpacker {
 public:
  Unpacker(FileSystem& fs, const Path& archive, const Path& destination)
      : fs_(fs), destination_(destination), handle_(archive_read_new()) {
    if (!handle_) throw std::bad_alloc();
    source_.path = archive;
  }

  Status run(std::vector<std::string>& paths) {
    TFAOT_TRY(open());
    for (;;) {
      archive_entry* entry = nullptr;  // owned by the handle
      const int code = archive_read_next_header(handle_.get(), &entry);
      if (code == ARCHIVE_EOF) return {};
      if (code != ARCHIVE_OK) return fail(failure());
      const auto path = inner_path(archive_entry_pathname(entry));
      const char* const name = archive_entry_pathname(entry);
      if (!path) {
        return fail(refused(fmt::format("the path '{}', which may lead out of the archive's folder",
                                        name != nullptr ? name : "")));
      }
      if (++entries_ > kMostFiles) {
        return fail(refused(fmt::format("more than {} files", kMostFiles)));
      }
      if (archive_entry_filetype(entry) == AE_IFDIR) continue;
      TFAOT_TRY(unpack(entry, *path));
      paths.push_back(*path);
    }
  }

 private:
  Status open() {
    TFAOT_ASSIGN(source_.file, fs_.open(source_.path));
    TFAOT_ASSIGN(const std::uint64_t size, source_.file->size());
    most_ = most_unpacked(size);
    archive* const handle = handle_.get();
    for (const int code :
         {archive_read_support_format_tar(handle), archive_read_support_filter_zstd(handle),
          archive_read_support_filter_gzip(handle), archive_read_support_filter_bzip2(handle),
          archive_read_support_filter_xz(handle),
          archive_read_open(handle, &source_, nullptr, ArchiveSource::read, nullptr)}) {
      if (code != ARCHIVE_OK) return fail(failure());
    }
    return {};
  }

  Status unpack(archive_entry* entry, const std::string& path) {
    if (archive_entry_hardlink(entry) != nullptr) {
      return fail(refused(fmt::format("'{}', a hard link", path)));
    }
    TFAOT_TRY(check_folders(path));
    switch (archive_entry_filetype(entry)) {
      case AE_IFREG:
        return fs_.write_chunks(destination_ / path,
                                [this](const ChunkSink& sink) { return copy(sink); });
      case AE_IFLNK:
        return unpack_link(archive_entry_symlink(entry), path);
      default:
        return fail(refused(fmt::format("'{}', a device or another special file", path)));
    }
  }

  // Never writes through a link, so that links are where their paths say.
  Status check_folders(const std::string& path) const {
    Path folder;
    for (const Path& part : Path(path).parent_path()) {
      folder /= part;
      if (fs_.kind(destination_ / folder) != FileKind::kSymlink) continue;
      return fail(refused(fmt::format("'{}' below the link '{}'", path, folder.string())));
    }
    return {};
  }

  Status unpack_link(const char* target, const std::string& path) {
    const std::string text = target != nullptr ? target : "";
    const Path folder = Path(path).parent_path();
    const bool plain =
        !text.empty() && text.front() != '/' && Path(text).lexically_normal() == text;
    if (!plain || !inner_path((folder / text).c_str())) {
      return fail(refused(fmt::format("the link '{}' to '{}', which leads out of it", path, text)));
    }
    TFAOT_TRY(fs_.create_directories((destination_ / path).parent_path()));
    return fs_.replace_symlink(text, destination_ / path);
  }

  Status copy(const ChunkSink& sink) {
    for (;;) {
      const la_ssize_t count = archive_read_data(handle_.get(), buffer_.data(), buffer_.size());
      if (count < 0) return fail(failure());
      if (count == 0) return {};
      unpacked_ += static_cast<std::uint64_t>(count);
      if (unpacked_ > most_) return fail(too_large());
      TFAOT_TRY(sink({buffer_.data(), static_cast<std::size_t>(count)}));
    }
  }

  Error failure() const {
    if (source_.error) return *source_.error;
    return Error::at({source_.path.string()},
                     "not a source archive, or damaged: " + error_text(handle_.get()))
        .note("it must be a tar, which may be compressed by gzip, zstd, bzip2 or xz");
  }

  Error too_large() const {
    return refused(fmt::format("more than {} bytes, which is not expected of its size", most_))
        .note("if you trust it, unpack it and use the config in its folder");
  }

  Error refused(const std::string& what) const {
    return Error::at({source_.path.string()}, "the source archive is refused: it holds " + what);
  }

  FileSystem& fs_;
  const Path& destination_;
  ArchiveSource source_;
  ArchiveReadHandle handle_;  // after source_, so freed before it
  std::uint64_t most_ = 0;    // bytes of all files
  std::uint64_t unpacked_ = 0;
  std::size_t entries_ = 0;
  std::string buffer_ = std::string(kCopiedPiece, '\0');
};

Status add_file(ArchiveWriter& writer, const FileSystem& fs, const StagedFile& file,
                const std::string& path) {
  if (file.source.empty()) {
    TFAOT_TRY(writer.begin_file(path, file.text.size()));
    return writer.write(file.text);
  }
  TFAOT_ASSIGN(const auto size, fs.size(file.source));
  TFAOT_TRY(writer.begin_file(path, size));
  return fs.read_chunks(file.source, [&](std::string_view chunk) { return writer.write(chunk); });
}

// `name`: of the archive, for errors.
Status pack(const FileSystem& fs, SourceArchive source, const Path& name, const ChunkSink& sink) {
  std::ranges::sort(source.files, {}, &StagedFile::path);
  ArchiveWriter writer(name, sink);
  TFAOT_TRY(writer.open_uncompressed());
  for (const StagedFile& file : source.files) {
    if (!is_package_path(file.path)) {
      return fail(Error::at({file.source.string()}, "the file's name cannot be used in an archive")
                      .note("names are printable ASCII without '\\'"));
    }
    TFAOT_TRY(add_file(writer, fs, file, source.folder + "/" + file.path));
  }
  return writer.close();
}

}  // namespace

Status write_source_archive(FileSystem& fs, const SourceArchive& source, const Path& archive) {
  return fs.write_chunks(archive,
                         [&](const ChunkSink& sink) { return pack(fs, source, archive, sink); });
}

Result<std::string> sha256_of_source_archive(const FileSystem& fs, const SourceArchive& source,
                                             const Path& archive) {
  Sha256 hash;
  TFAOT_TRY(pack(fs, source, archive, [&hash](std::string_view chunk) -> Status {
    hash.update(chunk);
    return {};
  }));
  return hash.hex_digest();
}

Result<std::vector<std::string>> unpack_source_archive(FileSystem& fs, const Path& archive,
                                                       const Path& destination) {
  TFAOT_TRY(fs.create_directories(destination));
  std::vector<std::string> paths;
  if (Status unpacked = Unpacker(fs, archive, destination).run(paths); !unpacked) {
    Error error = std::move(unpacked).error();
    if (const Status removed = fs.remove_all(destination); !removed) {
      error.note(removed.error().text());
    }
    return fail(std::move(error));
  }
  std::ranges::sort(paths);
  return paths;
}

std::string top_folder(const std::vector<std::string>& paths) {
  if (paths.empty()) return "";
  const std::string top = paths.front().substr(0, paths.front().find('/') + 1);
  const bool in_all = !top.empty() && std::ranges::all_of(paths, [&](const std::string& path) {
    return path.starts_with(top);
  });
  return in_all ? top.substr(0, top.size() - 1) : "";
}

}  // namespace tfaot::toolkit
