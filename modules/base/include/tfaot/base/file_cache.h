// SPDX-License-Identifier: Apache-2.0
// A folder of results under the hash of what they were made from. Any number of processes may use
// one folder at the same time: entries are written aside and renamed, and each carries its own
// hash, so that a damaged one is as good as missing. What cannot be read is made anew; what cannot
// be written is an Error that nobody needs to heed. One object per thread; the file system must
// outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit {

class FileCache {
 public:
  // The folder is made by the first put().
  FileCache(FileSystem& fs, Path folder) : fs_(fs), folder_(std::move(folder)) {}

  // REQUIRES, for all: `key` is a sha256_of().
  // The contents, when an entry is there and whole; it then counts as just used.
  std::optional<std::string> get(const std::string& key);
  Status put(const std::string& key, std::string_view contents);
  Path entry(const std::string& key) const;

  // Removes the least recently used entries until at most `limit` bytes are left.
  Status trim(std::uint64_t limit);

 private:
  FileSystem& fs_;
  Path folder_;
};

}  // namespace tfaot::toolkit
