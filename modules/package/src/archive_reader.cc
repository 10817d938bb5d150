// SPDX-License-Identifier: Apache-2.0
#include "archive_reader.h"

#include <fmt/format.h>

#include <cerrno>
#include <new>

#include "tfaot/records/names.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kReadPiece = 1 << 20;

// The kind of an entry that is not a regular file, for messages.
const char* kind_of(archive_entry* entry) {
  if (archive_entry_hardlink(entry) != nullptr) return "a hard link";
  switch (archive_entry_filetype(entry)) {
    case AE_IFREG:
      return nullptr;
    case AE_IFLNK:
      return "a symbolic link";
    case AE_IFDIR:
      return "a folder";
    default:
      return "a device or another special file";
  }
}

}  // namespace

ArchiveReader::ArchiveReader(std::unique_ptr<DecompressedArchive> bytes)
    : bytes_(std::move(bytes)), handle_(archive_read_new()) {
  if (!handle_) throw std::bad_alloc();
}

Result<ArchiveReader> ArchiveReader::open(const FileSystem& fs, const Path& archive_path) {
  ArchiveSource source;
  source.path = archive_path;
  TFAOT_ASSIGN(source.file, fs.open(archive_path));
  ArchiveReader reader(std::make_unique<DecompressedArchive>(std::move(source)));
  if (!reader.bytes_->open()) return fail(reader.failure_of(reader.bytes_->handle()));
  archive* const handle = reader.handle_.get();
  // read_concatenated_archives: continues after the end-of-archive mark, so that nothing can hide
  // there.
  for (const int code :
       {archive_read_support_format_tar(handle),
        archive_read_set_format_option(handle, "tar", "read_concatenated_archives", "1"),
        archive_read_open(handle, reader.bytes_.get(), nullptr, DecompressedArchive::read,
                          nullptr)}) {
    if (code != ARCHIVE_OK) return fail(reader.failure());
  }
  return reader;
}

Result<std::optional<ArchiveFile>> ArchiveReader::next() {
  archive_entry* entry = nullptr;  // owned by the handle
  const int code = archive_read_next_header(handle_.get(), &entry);
  if (code == ARCHIVE_EOF) {
    TFAOT_TRY(check_end());
    return std::nullopt;
  }
  if (code != ARCHIVE_OK) return fail(failure());
  const char* const known_path = archive_entry_pathname(entry);
  const std::string path = known_path != nullptr ? known_path : "";
  if (const char* const kind = kind_of(entry)) {
    return fail(refused(fmt::format("'{}' is {}, a package holds regular files only", path, kind)));
  }
  if (!is_package_path(path)) {
    return fail(refused(
        fmt::format("it holds the path '{}', which may lead out of the package's folder", path)));
  }
  current_ = {path, static_cast<std::uint64_t>(archive_entry_size(entry))};
  bytes_->expect_file(current_.size);
  return current_;
}

Status ArchiveReader::read(const ChunkSink& sink) {
  std::string buffer(std::min<std::uint64_t>(kReadPiece, current_.size + 1), '\0');
  std::uint64_t size = 0;
  for (;;) {
    const la_ssize_t count = archive_read_data(handle_.get(), buffer.data(), buffer.size());
    if (count < 0) return fail(failure());
    if (count == 0) break;
    size += static_cast<std::uint64_t>(count);
    if (size > current_.size) break;
    TFAOT_TRY(sink({buffer.data(), static_cast<std::size_t>(count)}));
  }
  if (size == current_.size) return {};
  return fail(refused(fmt::format("'{}' is not as long as its header says", current_.path)));
}

// libarchive ignores what follows a gzip stream.
Status ArchiveReader::check_end() const {
  TFAOT_ASSIGN(const auto size, archive_size());
  const std::uint64_t used = bytes_->used();
  if (used >= size) return {};
  return fail(refused(fmt::format("{} bytes follow its end", size - used)));
}

Error ArchiveReader::failure() const { return failure_of(handle_.get()); }

Error ArchiveReader::failure_of(archive* handle) const {
  if (bytes_->source().error) return *bytes_->source().error;
  const char* const text = archive_error_string(handle);
  const std::string reason = text != nullptr ? text : "unknown reason";
  // EILSEQ means a wrong format, so the bytes could be decompressed. Any other error means that the
  // archive is cut off.
  return archive_errno(handle) == EILSEQ ? refused(reason) : damaged(reason);
}

Error ArchiveReader::refused(const std::string& reason) const {
  if (ours_) return damaged(reason);
  return Error::at({bytes_->source().path.string()}, "not a model package: " + reason)
      .note("'tfaot package' makes one from a package tree");
}

Error ArchiveReader::damaged(const std::string& reason) const {
  return Error::at({bytes_->source().path.string()}, "the archive is damaged: " + reason)
      .note("get the archive again, or make it again with 'tfaot package'");
}

}  // namespace tfaot::toolkit
