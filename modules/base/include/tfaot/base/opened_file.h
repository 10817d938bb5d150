// SPDX-License-Identifier: Apache-2.0
// What FileSystem::open() (file_system.h) returns: an open regular file. It stays the same file
// when another one replaces it at its path. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// A piece of a file. Reading past the file's end gives fewer bytes, or none.
struct ByteRange {
  std::uint64_t offset = 0;
  std::size_t size = 0;
};

class OpenedFile {
 public:
  virtual ~OpenedFile() = default;
  // One piece of the current contents.
  virtual Result<std::string> read_range(const ByteRange& range) const = 0;
  virtual Result<std::uint64_t> size() const = 0;
};

}  // namespace tfaot::toolkit
