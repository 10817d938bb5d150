// SPDX-License-Identifier: Apache-2.0
#include "tfaot/package/zip_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>

#include "archive_handles.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kZipPiece = 1 << 20;

class ZipReader {
 public:
  ZipReader(const Path& file, std::uint64_t most_bytes)
      : file_(file), left_(most_bytes), most_(most_bytes), handle_(archive_read_new()) {
    if (!handle_) throw std::bad_alloc();
  }

  // REQUIRES: `bytes` outlive the reader.
  Status open(const std::string& bytes) {
    archive* const handle = handle_.get();
    for (const int code : {archive_read_support_format_zip_seekable(handle),
                           archive_read_open_memory(handle, bytes.data(), bytes.size())}) {
      if (code != ARCHIVE_OK) return fail(failure());
    }
    return {};
  }

  Result<std::vector<ZipEntry>> read() {
    std::vector<ZipEntry> entries;
    for (;;) {
      archive_entry* entry = nullptr;  // owned by the handle
      const int code = archive_read_next_header(handle_.get(), &entry);
      if (code == ARCHIVE_EOF) return entries;
      if (code != ARCHIVE_OK) return fail(failure());
      if (archive_entry_filetype(entry) != AE_IFREG) continue;
      if (entries.size() == kMostFiles) {
        return fail(refused(fmt::format("more than {} files", kMostFiles)));
      }
      const char* name = archive_entry_pathname_utf8(entry);
      if (name == nullptr) name = archive_entry_pathname(entry);
      if (name == nullptr) return fail(refused("a file without a name"));
      if (std::ranges::find(entries, name, &ZipEntry::name) != entries.end()) {
        return fail(refused(fmt::format("two files '{}'", shown(name))));
      }
      entries.push_back({name, {}});
      TFAOT_TRY(read_into(entries.back().bytes));
    }
  }

 private:
  Status read_into(std::string& bytes) {
    for (;;) {
      const std::size_t start = bytes.size();
      bytes.resize(start + kZipPiece);
      const la_ssize_t count = archive_read_data(handle_.get(), bytes.data() + start, kZipPiece);
      if (count < 0) return fail(failure());
      bytes.resize(start + static_cast<std::size_t>(count));
      if (count == 0) return {};
      if (static_cast<std::uint64_t>(count) > left_) {
        return fail(refused(fmt::format("more than {} bytes", most_)));
      }
      left_ -= static_cast<std::uint64_t>(count);
    }
  }

  Error failure() const {
    const char* const text = archive_error_string(handle_.get());
    return Error::at({file_.string()}, fmt::format("not a zip file, or damaged: {}",
                                                   text != nullptr ? text : "no reason"));
  }
  Error refused(const std::string& what) const {
    return Error::at({file_.string()}, "the zip file is refused: it holds " + what);
  }

  const Path& file_;
  std::uint64_t left_;
  std::uint64_t most_;
  ArchiveReadHandle handle_;
};

class ZipWriter {
 public:
  ZipWriter(const Path& file, const ChunkSink& sink) : file_(file), sink_(sink) {
    if (!handle_ || !entry_) throw std::bad_alloc();
  }
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  Status write(const std::vector<ZipEntry>& entries) {
    archive* const handle = handle_.get();
    TFAOT_TRY(check(archive_write_set_format_zip(handle)));
    TFAOT_TRY(check(archive_write_zip_set_compression_store(handle)));
    TFAOT_TRY(check(archive_write_set_bytes_in_last_block(handle, 1)));  // no padding at the end
    TFAOT_TRY(check(archive_write_open2(handle, this, nullptr, take, nullptr, nullptr)));
    for (const ZipEntry& entry : entries) TFAOT_TRY(add(entry));
    return check(archive_write_close(handle));
  }

 private:
  // Without a time: the format's first day, whatever the time zone.
  Status add(const ZipEntry& entry) {
    archive_entry_clear(entry_.get());
    archive_entry_set_pathname(entry_.get(), entry.name.c_str());
    archive_entry_set_filetype(entry_.get(), AE_IFREG);
    archive_entry_set_perm(entry_.get(), 0644);
    archive_entry_set_size(entry_.get(), static_cast<la_int64_t>(entry.bytes.size()));
    TFAOT_TRY(check(archive_write_header(handle_.get(), entry_.get())));
    const la_ssize_t written =
        archive_write_data(handle_.get(), entry.bytes.data(), entry.bytes.size());
    const bool all = written >= 0 && static_cast<std::size_t>(written) == entry.bytes.size();
    return all ? Status() : fail(failure());
  }

  static la_ssize_t take(archive*, void* self, const void* bytes, std::size_t size) {
    auto& writer = *static_cast<ZipWriter*>(self);
    if (writer.error_) return -1;
    const Status status = writer.sink_({static_cast<const char*>(bytes), size});
    if (status) return static_cast<la_ssize_t>(size);
    writer.error_ = status.error();
    return -1;
  }

  Status check(int code) const { return code == ARCHIVE_OK ? Status() : fail(failure()); }
  Error failure() const {
    if (error_) return *error_;
    const char* const text = archive_error_string(handle_.get());
    return Error::at({file_.string()}, fmt::format("cannot write the zip file: {}",
                                                   text != nullptr ? text : "no reason"));
  }

  const Path& file_;
  const ChunkSink& sink_;
  std::optional<Error> error_;
  ArchiveEntryHandle entry_{archive_entry_new()};
  ArchiveWriteHandle handle_{archive_write_new()};  // last: freeing it may call take()
};

}  // namespace

Result<std::vector<ZipEntry>> read_zip(const FileSystem& fs, const Path& file,
                                       std::uint64_t most_bytes) {
  TFAOT_ASSIGN(const std::string bytes, fs.read(file));
  ZipReader reader(file, most_bytes);
  TFAOT_TRY(reader.open(bytes));
  return reader.read();
}

Status write_zip(FileSystem& fs, const Path& file, const std::vector<ZipEntry>& entries) {
  return fs.write_chunks(
      file, [&](const ChunkSink& sink) { return ZipWriter(file, sink).write(entries); });
}

}  // namespace tfaot::toolkit
