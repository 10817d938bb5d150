// SPDX-License-Identifier: Apache-2.0
#include "tfaot/package/zip_file.h"

#include <fmt/format.h>

#include <new>
#include <optional>
#include <set>
#include <string_view>

#include "archive_writer.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"

namespace tfaot::toolkit {
namespace {

class ZipReader {
 public:
  ZipReader(const Path& file, const ZipRequest& request)
      : request_(request), left_(request.most_bytes), handle_(archive_read_new()) {
    if (!handle_) throw std::bad_alloc();
    source_.path = file;
  }

  Result<std::vector<ZipEntry>> read(const FileSystem& fs) {
    TFAOT_TRY(open(fs));
    std::vector<ZipEntry> entries;
    std::set<std::string> names;
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
      if (!names.insert(name).second) {
        return fail(refused(fmt::format("two files '{}'", shown(name))));
      }
      entries.push_back({name, {}});
      if (request_.wants(entries.back().name)) TFAOT_TRY(read_into(entries.back().bytes));
    }
  }

 private:
  Status open(const FileSystem& fs) {
    TFAOT_ASSIGN(source_.file, fs.open(source_.path));
    archive* const handle = handle_.get();
    for (const int code :
         {archive_read_support_format_zip_seekable(handle),
          archive_read_set_read_callback(handle, ArchiveSource::read),
          archive_read_set_seek_callback(handle, ArchiveSource::seek),
          archive_read_set_callback_data(handle, &source_), archive_read_open1(handle)}) {
      if (code != ARCHIVE_OK) return fail(failure());
    }
    return {};
  }

  Status read_into(std::string& bytes) {
    for (;;) {
      const void* piece = nullptr;
      std::size_t size = 0;
      la_int64_t offset = 0;
      const int code = archive_read_data_block(handle_.get(), &piece, &size, &offset);
      if (code == ARCHIVE_EOF) return {};
      if (code != ARCHIVE_OK) return fail(failure());
      if (size > left_) {
        return fail(refused(fmt::format("more than {} bytes", request_.most_bytes)));
      }
      left_ -= size;
      bytes.append(static_cast<const char*>(piece), size);
    }
  }

  Error failure() const {
    if (source_.error) return *source_.error;
    return Error::at({source_.path.string()},
                     "not a zip file, or damaged: " + error_text(handle_.get()));
  }
  Error refused(const std::string& what) const {
    return Error::at({source_.path.string()}, "the zip file is refused: it holds " + what);
  }

  const ZipRequest& request_;
  std::uint64_t left_;
  ArchiveSource source_;
  ArchiveReadHandle handle_;  // after source_, so freed before it
};

class ZipWriter {
 public:
  ZipWriter(const Path& file, const ChunkSink& sink) : file_(file), sink_(sink) {
    if (!handle_ || !entry_) throw std::bad_alloc();
  }
  ZipWriter(const ZipWriter&) = delete;
  ZipWriter& operator=(const ZipWriter&) = delete;

  Status write(const std::vector<ZipEntry>& entries) {
    TFAOT_TRY(check_names(entries));
    archive* const handle = handle_.get();
    TFAOT_TRY(check(archive_write_set_format_zip(handle)));
    TFAOT_TRY(check(archive_write_zip_set_compression_store(handle)));
    TFAOT_TRY(check(archive_write_set_bytes_in_last_block(handle, 1)));  // no padding at the end
    TFAOT_TRY(check(archive_write_open2(handle, this, nullptr, take, nullptr, nullptr)));
    for (const ZipEntry& entry : entries) TFAOT_TRY(add(entry));
    return check(archive_write_close(handle));
  }

 private:
  // libarchive cuts a longer name, and writes beyond its memory for one of 64 KiB.
  Status check_names(const std::vector<ZipEntry>& entries) const {
    std::set<std::string_view> names;
    for (const auto& [name, bytes] : entries) {
      const char* const fault = name.empty()                           ? "is empty"
                                : name.size() > kLongestZipName        ? "is too long"
                                : name.find('\0') != std::string::npos ? "holds a byte 0"
                                : name.ends_with('/')                  ? "is that of a folder"
                                : !names.insert(name).second           ? "is there twice"
                                                                       : nullptr;
      if (fault == nullptr) continue;
      return fail(Error::at({file_.string()},
                            fmt::format("a zip file cannot hold the name '{}' of {} bytes: it {}",
                                        shown(name), name.size(), fault)));
    }
    return {};
  }

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
    return Error::at({file_.string()}, "cannot write the zip file: " + error_text(handle_.get()));
  }

  const Path& file_;
  const ChunkSink& sink_;
  std::optional<Error> error_;
  ArchiveEntryHandle entry_{archive_entry_new()};
  ArchiveWriteHandle handle_{archive_write_new()};  // last: freeing it may call take()
};

}  // namespace

Result<std::vector<ZipEntry>> read_zip(const FileSystem& fs, const Path& file,
                                       const ZipRequest& request) {
  return ZipReader(file, request).read(fs);
}

Status write_zip(FileSystem& fs, const Path& file, const std::vector<ZipEntry>& entries) {
  return fs.write_chunks(
      file, [&](const ChunkSink& sink) { return ZipWriter(file, sink).write(entries); });
}

}  // namespace tfaot::toolkit
