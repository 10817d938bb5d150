// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace tfaot::toolkit {

Result<std::string> read_limited(const FileSystem& fs, const Path& path, const FileLimit& limit) {
  const auto too_large = [&](std::uint64_t size) {
    return fail(Error::at({path.string()}, over_limit(size, limit)));
  };
  // First, because reading up to the limit may need much memory.
  if (const auto size = fs.size(path); size && *size > limit.bytes) return too_large(*size);
  TFAOT_ASSIGN(std::string text, fs.read_range(path, {0, limit.bytes + 1}));
  if (text.size() > limit.bytes) return too_large(text.size());
  return text;
}

std::uint64_t most_unpacked(std::uint64_t archive_bytes) {
  return std::max(kUnpackedBytes, archive_bytes * kUnpackedTimes);
}

std::string over_limit(std::uint64_t bytes, const FileLimit& limit) {
  return fmt::format("has {} bytes, but {} has at most {}", bytes, limit.what, limit.bytes);
}

}  // namespace tfaot::toolkit
