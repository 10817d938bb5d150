// SPDX-License-Identifier: Apache-2.0
// Owners of libarchive's handles, made on the line the handle is born. One thread each.
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <memory>

namespace tfaot::toolkit {

struct FreeArchiveReader {
  void operator()(archive* handle) const { archive_read_free(handle); }
};
struct FreeArchiveWriter {
  void operator()(archive* handle) const { archive_write_free(handle); }
};
struct FreeArchiveEntry {
  void operator()(archive_entry* handle) const { archive_entry_free(handle); }
};

using ArchiveReadHandle = std::unique_ptr<archive, FreeArchiveReader>;
using ArchiveWriteHandle = std::unique_ptr<archive, FreeArchiveWriter>;
using ArchiveEntryHandle = std::unique_ptr<archive_entry, FreeArchiveEntry>;

}  // namespace tfaot::toolkit
