// SPDX-License-Identifier: Apache-2.0
#include "archive_writer.h"

#include <fmt/format.h>

#include <new>

namespace tfaot::toolkit {
namespace {

constexpr time_t kReproducibleTime =
    315532800;  // 1980-01-01 00:00:00 UTC: tar calls 1970 implausible

}  // namespace

ArchiveFormat archive_format(const std::filesystem::path& archive) {
  return archive.extension() == ".gz" ? ArchiveFormat::kTarGz : ArchiveFormat::kTarZst;
}

ArchiveWriter::ArchiveWriter(Path name, const ChunkSink& sink)
    : name_(std::move(name)), sink_(sink) {
  if (!handle_ || !entry_) throw std::bad_alloc();
}

Status ArchiveWriter::open(ArchiveFormat format, int level) {
  if (format == ArchiveFormat::kTarGz) {
    return open_with(archive_write_add_filter_gzip, "gzip", level);
  }
  return open_with(archive_write_add_filter_zstd, "zstd", level);
}

Status ArchiveWriter::open_uncompressed() {
  return open_with(archive_write_add_filter_none, "none", 0);
}

Status ArchiveWriter::open_with(int (*add_filter)(archive*), const char* filter, int level) {
  archive* const handle = handle_.get();
  // ustar if possible; pax headers only for long paths and big files.
  TFAOT_TRY(check(archive_write_set_format_pax_restricted(handle)));
  TFAOT_TRY(check(add_filter(handle)));  // all filters use one thread
  if (add_filter == archive_write_add_filter_gzip) {
    TFAOT_TRY(check(archive_write_set_filter_option(handle, "gzip", "timestamp", nullptr)));
  }
  if (level != 0) {
    const std::string text = std::to_string(level);
    if (archive_write_set_filter_option(handle, filter, "compression-level", text.c_str()) !=
        ARCHIVE_OK) {
      return fail(Error::usage(fmt::format("{} has no compression level {}", filter, text)));
    }
  }
  // No padding after the end.
  TFAOT_TRY(check(archive_write_set_bytes_in_last_block(handle, 1)));
  return check(archive_write_open2(handle, this, nullptr, write_callback, nullptr, nullptr));
}

Status ArchiveWriter::begin_file(const std::string& path, std::uint64_t size) {
  archive_entry_clear(entry_.get());
  archive_entry_set_pathname(entry_.get(), path.c_str());
  archive_entry_set_filetype(entry_.get(), AE_IFREG);
  archive_entry_set_perm(entry_.get(), 0644);
  archive_entry_set_size(entry_.get(), static_cast<la_int64_t>(size));
  archive_entry_set_mtime(entry_.get(), kReproducibleTime, 0);
  archive_entry_set_uid(entry_.get(), 0);
  archive_entry_set_gid(entry_.get(), 0);
  archive_entry_set_uname(entry_.get(), "");
  archive_entry_set_gname(entry_.get(), "");
  return check(archive_write_header(handle_.get(), entry_.get()));
}

Status ArchiveWriter::write(std::string_view bytes) {
  const la_ssize_t written = archive_write_data(handle_.get(), bytes.data(), bytes.size());
  if (written >= 0 && static_cast<std::size_t>(written) == bytes.size()) return {};
  return failure();
}

Status ArchiveWriter::close() { return check(archive_write_close(handle_.get())); }

la_ssize_t ArchiveWriter::write_callback(archive*, void* self, const void* bytes,
                                         std::size_t size) {
  auto& writer = *static_cast<ArchiveWriter*>(self);
  if (writer.error_) return -1;
  const Status status = writer.sink_({static_cast<const char*>(bytes), size});
  if (status) return static_cast<la_ssize_t>(size);
  writer.error_ = status.error();
  return -1;
}

Status ArchiveWriter::check(int code) const { return code == ARCHIVE_OK ? Status() : failure(); }

Status ArchiveWriter::failure() const {
  if (error_) return fail(*error_);
  return fail(Error::at({name_.string()}, "cannot write the archive: " +
                                              error_text(handle_.get(), "unknown reason")));
}

la_ssize_t ArchiveSource::read(archive*, void* source, const void** bytes) {
  constexpr std::size_t kPiece = 1 << 20;
  auto& self = *static_cast<ArchiveSource*>(source);
  if (self.error) return -1;
  auto piece = self.file->read_range({self.offset, kPiece});
  if (!piece) {
    self.error = std::move(piece).error();
    return -1;
  }
  self.buffer = std::move(*piece);
  self.offset += self.buffer.size();
  *bytes = self.buffer.data();
  return static_cast<la_ssize_t>(self.buffer.size());
}

la_int64_t ArchiveSource::seek(archive*, void* source, la_int64_t offset, int whence) {
  auto& self = *static_cast<ArchiveSource*>(source);
  const auto size = static_cast<la_int64_t>(self.file->size().value_or(0));
  const la_int64_t from = whence == SEEK_SET   ? 0
                          : whence == SEEK_END ? size
                                               : static_cast<la_int64_t>(self.offset);
  if (offset < -from || offset > size - from) return ARCHIVE_FATAL;
  self.offset = static_cast<std::uint64_t>(from + offset);
  return from + offset;
}

}  // namespace tfaot::toolkit
