// SPDX-License-Identifier: Apache-2.0
// Zip files that are read and written whole, such as numpy's .npz. Not a package: see package.h.
// One call per file at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct ZipEntry {
  std::string name;
  std::string bytes;
};

struct ZipRequest {
  std::uint64_t most_bytes = 0;  // of all files that are unpacked
  std::function<bool(const std::string& name)> wants;
};

// The regular files, in the order of the zip; those that are not wanted without their bytes. Reads
// no more of the zip than it must, so its size is no matter. Error: damaged, encrypted, two of one
// name, or more than `most_bytes`, so that a small file cannot fill the memory.
Result<std::vector<ZipEntry>> read_zip(const FileSystem& fs, const Path& file,
                                       const ZipRequest& request);

// Not compressed, as numpy.savez() does it. Written in one step; the same entries give the same
// bytes. Error: a name that a zip cannot hold, or two of one name.
Status write_zip(FileSystem& fs, const Path& file, const std::vector<ZipEntry>& entries);

}  // namespace tfaot::toolkit
