// SPDX-License-Identifier: Apache-2.0
#include "archive_source.h"

#include <cstdio>

namespace tfaot::toolkit {

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
