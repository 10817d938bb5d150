// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/file_cache.h"

#include <algorithm>
#include <vector>

#include "tfaot/base/hash.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kHashLength = 64;
constexpr std::size_t kFolderLength = 2;  // "ab/abcd...": no folder grows too large

struct Entry {
  std::int64_t last_used = 0;
  std::uint64_t size = 0;
  Path path;
};

// Other processes remove entries at the same time: those are skipped.
std::vector<Entry> entries_in(const FileSystem& fs, const Path& folder) {
  std::vector<Entry> entries;
  for (const std::string& part : fs.list(folder).value_or(std::vector<std::string>{})) {
    for (const std::string& name : fs.list(folder / part).value_or(std::vector<std::string>{})) {
      const Path path = folder / part / name;
      const auto size = fs.size(path);
      const auto last_used = fs.last_used(path);
      if (size && last_used) entries.push_back({*last_used, *size, path});
    }
  }
  return entries;
}

}  // namespace

Path FileCache::entry(const std::string& key) const {
  return folder_ / key.substr(0, kFolderLength) / key;
}

std::optional<std::string> FileCache::get(const std::string& key) {
  auto bytes = fs_.read(entry(key));
  if (!bytes || bytes->size() < kHashLength) return std::nullopt;
  std::string contents = bytes->substr(kHashLength);
  if (sha256_of(contents) != bytes->substr(0, kHashLength)) return std::nullopt;
  static_cast<void>(fs_.mark_used(entry(key)));  // fails in a read-only folder, which is fine
  return contents;
}

Status FileCache::put(const std::string& key, std::string_view contents) {
  std::string bytes = sha256_of(contents);
  bytes += contents;
  return fs_.replace_atomically(entry(key), bytes);
}

Status FileCache::trim(std::uint64_t limit) {
  for (const std::string& part : fs_.list(folder_).value_or(std::vector<std::string>{})) {
    TFAOT_TRY(fs_.remove_half_written(folder_ / part));
  }
  std::vector<Entry> entries = entries_in(fs_, folder_);
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.last_used > b.last_used; });
  std::uint64_t kept = 0;
  for (const Entry& one : entries) {
    kept += one.size;
    if (kept > limit) TFAOT_TRY(fs_.remove_all(one.path));
  }
  return {};
}

}  // namespace tfaot::toolkit
