// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/limits.h"

#include <fmt/format.h>

#include <algorithm>

namespace tfaot::toolkit {

Result<std::string> read_limited(const FileSystem& fs, const Path& path, const FileLimit& limit) {
  TFAOT_ASSIGN(std::string text, fs.read_range(path, {0, limit.bytes + 1}));
  if (text.size() <= limit.bytes) return text;
  TFAOT_ASSIGN(const std::uint64_t size, fs.size(path));
  return fail(Error::at({path.string()}, over_limit(size, limit)));
}

std::uint64_t most_unpacked(std::uint64_t archive_bytes) {
  return std::max(kUnpackedBytes, archive_bytes * kUnpackedTimes);
}

std::string over_limit(std::uint64_t bytes, const FileLimit& limit) {
  return fmt::format("has {} bytes, but {} has at most {}", bytes, limit.what, limit.bytes);
}

}  // namespace tfaot::toolkit
