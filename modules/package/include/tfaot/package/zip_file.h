// SPDX-License-Identifier: Apache-2.0
// Zip files that are read and written whole, such as numpy's .npz. Not a package: see package.h.
// One call per file at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct ZipEntry {
  std::string name;
  std::string bytes;
};

// The regular files, in the order of the zip. Error: damaged, encrypted, two of one name, or more
// than `most_bytes` in all, so that a small file cannot fill the memory.
Result<std::vector<ZipEntry>> read_zip(const FileSystem& fs, const Path& file,
                                       std::uint64_t most_bytes);

// Not compressed, as numpy.savez() does it. Written in one step; the same entries give the same
// bytes.
Status write_zip(FileSystem& fs, const Path& file, const std::vector<ZipEntry>& entries);

}  // namespace tfaot::toolkit
