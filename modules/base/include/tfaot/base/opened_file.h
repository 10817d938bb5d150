// SPDX-License-Identifier: Apache-2.0
// What FileSystem::open() (file_system.h) gives: a regular file that stays this file when another
// one is put into its place. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// A piece of a file; short at the file's end, empty behind it.
struct ByteRange {
  std::uint64_t offset = 0;
  std::size_t size = 0;
};

class OpenedFile {
 public:
  virtual ~OpenedFile() = default;
  // One piece, of what is there now.
  virtual Result<std::string> read_range(const ByteRange& range) const = 0;
  virtual Result<std::uint64_t> size() const = 0;
};

}  // namespace tfaot::toolkit
