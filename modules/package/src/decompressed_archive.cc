// SPDX-License-Identifier: Apache-2.0
#include "decompressed_archive.h"

#include <fmt/format.h>

#include <cerrno>
#include <new>
#include <utility>

#include "tfaot/base/limits.h"

namespace tfaot::toolkit {
namespace {

// libarchive allows headers of 1 MB for long names; real headers are far smaller.
constexpr std::uint64_t kHeadersOfAFile = std::uint64_t{1} << 16;

}  // namespace

DecompressedArchive::DecompressedArchive(ArchiveSource source)
    : source_(std::move(source)), handle_(archive_read_new()), expected_(kStrayBytes) {
  if (!handle_) throw std::bad_alloc();
}

bool DecompressedArchive::open() {
  archive* const handle = handle_.get();
  for (const int code :
       {archive_read_support_format_raw(handle), archive_read_support_format_empty(handle),
        archive_read_support_filter_zstd(handle), archive_read_support_filter_gzip(handle),
        archive_read_open(handle, &source_, nullptr, ArchiveSource::read, nullptr)}) {
    if (code != ARCHIVE_OK) return false;
  }
  constexpr int kOneAndTheFile = 2;
  if (archive_filter_count(handle) > kOneAndTheFile) {
    archive_set_error(handle, EILSEQ, "it is compressed more than once");
    return false;
  }
  archive_entry* entry = nullptr;  // the whole file, without a name
  const int code = archive_read_next_header(handle, &entry);
  is_empty_ = code == ARCHIVE_EOF;
  return code == ARCHIVE_OK || is_empty_;
}

void DecompressedArchive::expect_file(std::uint64_t bytes) {
  for (const std::uint64_t more : {bytes, kHeadersOfAFile}) {
    if (__builtin_add_overflow(expected_, more, &expected_)) expected_ = ~std::uint64_t{0};
  }
}

la_ssize_t DecompressedArchive::read(archive* reader, void* decompressed, const void** bytes) {
  auto& self = *static_cast<DecompressedArchive*>(decompressed);
  if (self.is_empty_) return 0;
  archive* const handle = self.handle_.get();
  std::size_t size = 0;
  la_int64_t offset = 0;
  const int code = archive_read_data_block(handle, bytes, &size, &offset);
  if (code == ARCHIVE_EOF) return 0;
  if (code != ARCHIVE_OK) {
    const char* const text = archive_error_string(handle);
    archive_set_error(reader, archive_errno(handle), "%s", text != nullptr ? text : "unknown");
    return -1;
  }
  self.given_ += size;
  if (self.given_ > self.expected_) {
    archive_set_error(
        reader, EILSEQ, "%s",
        fmt::format("more than {} bytes in it belong to no file", kStrayBytes).c_str());
    return -1;
  }
  return static_cast<la_ssize_t>(size);
}

std::uint64_t DecompressedArchive::used() const {
  return static_cast<std::uint64_t>(archive_filter_bytes(handle_.get(), -1));
}

}  // namespace tfaot::toolkit
