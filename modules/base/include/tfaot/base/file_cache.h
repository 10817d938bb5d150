// SPDX-License-Identifier: Apache-2.0
// A folder of results, each under the hash of what it was made from. Any number of processes may
// use one folder at the same time: entries are written to a temporary file and renamed. Each entry
// carries its own hash, so a damaged one counts as missing. The caller makes missing results again.
// An entry that cannot be written is an Error that callers may ignore. One object per thread; the
// file system must outlive it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit {

class FileCache {
 public:
  // The first put() makes the folder.
  FileCache(FileSystem& fs, Path folder) : fs_(fs), folder_(std::move(folder)) {}

  // REQUIRES, for all functions: `key` is a sha256_of().
  // The contents, if the entry exists and is intact. This also marks it as just used.
  std::optional<std::string> get(const std::string& key);
  Status put(const std::string& key, std::string_view contents);
  Path entry(const std::string& key) const;

  // Removes the least recently used entries until at most `limit` bytes are left. Looks at each
  // entry.
  Status trim(std::uint64_t limit);
  // The same, but only once a sixteenth of the limit was added, so that adding an entry takes the
  // same time however many there are. Call it after put()s of `added` bytes in all. A file beside
  // the entries counts; processes at the same time may lose each other's bytes.
  Status trim_after_adding(std::uint64_t added, std::uint64_t limit);

 private:
  FileSystem& fs_;
  Path folder_;
};

}  // namespace tfaot::toolkit
