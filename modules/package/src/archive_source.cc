// SPDX-License-Identifier: Apache-2.0
#include "archive_source.h"

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

}  // namespace tfaot::toolkit
