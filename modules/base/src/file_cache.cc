// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/file_cache.h"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "tfaot/base/hash.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

constexpr std::size_t kHashLength = 64;
constexpr std::size_t kFolderLength = 2;  // "ab/abcd...": no folder grows too large
constexpr const char* kAddedName = ".added";
constexpr std::uint64_t kTrimsInALimit = 16;

struct Entry {
  std::int64_t last_used = 0;
  std::uint64_t size = 0;
  Path path;
};

// The folders of entries.
std::vector<Path> parts_of(const FileSystem& fs, const Path& folder) {
  std::vector<Path> parts;
  for (const std::string& name : fs.list(folder).value_or(std::vector<std::string>{})) {
    if (name.size() == kFolderLength) parts.push_back(folder / name);
  }
  return parts;
}

// Other processes remove entries at the same time: those are skipped.
std::vector<Entry> entries_in(const FileSystem& fs, const Path& folder) {
  std::vector<Entry> entries;
  for (const Path& part : parts_of(fs, folder)) {
    for (const std::string& name : fs.list(part).value_or(std::vector<std::string>{})) {
      const Path path = part / name;
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
  TFAOT_TRY(fs_.remove_half_written(folder_));
  for (const Path& part : parts_of(fs_, folder_)) TFAOT_TRY(fs_.remove_half_written(part));
  std::vector<Entry> entries = entries_in(fs_, folder_);
  std::ranges::sort(entries, std::ranges::greater(), &Entry::last_used);
  std::uint64_t kept = 0;
  for (const Entry& one : entries) {
    kept += one.size;
    if (kept > limit) TFAOT_TRY(fs_.remove_all(one.path));
  }
  return {};
}

Status FileCache::trim_after_adding(std::uint64_t added, std::uint64_t limit) {
  const Path count = folder_ / kAddedName;
  const auto before = parse_number<std::uint64_t>(fs_.read(count).value_or(""));
  const std::uint64_t now = before.value_or(0) + added;
  if (now < limit / kTrimsInALimit) {
    return fs_.replace_atomically(count, std::to_string(now), Durability::kScratch);
  }
  TFAOT_TRY(fs_.remove_all(count));
  return trim(limit);
}

}  // namespace tfaot::toolkit
