// SPDX-License-Identifier: Apache-2.0
// Archives that make_archive() would never write, and functions to read those that it writes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tfaot::toolkit::testing {

enum class EntryKind { kFile, kFolder, kSymlink, kHardlink, kDevice };

struct Entry {
  std::string path;
  std::string contents;  // or the link's target
  EntryKind kind = EntryKind::kFile;
};

std::string make_tar(const std::vector<Entry>& entries);
std::string make_tar_zst(const std::vector<Entry>& entries);
std::string make_tar_gz(const std::vector<Entry>& entries);
std::string zstd_of(const std::string& bytes);

struct EntryHeader {
  std::string path;
  std::uint64_t size;
  unsigned mode;
  long mtime;
  long uid;
  long gid;
  std::string owner;  // uname + ":" + gname
};
std::vector<EntryHeader> list_archive(const std::string& bytes);

// The entries of a good archive, from the stem on: manifest.json first, then the sample's files in
// order.
std::vector<Entry> sample_entries();

}  // namespace tfaot::toolkit::testing
