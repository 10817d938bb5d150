// SPDX-License-Identifier: Apache-2.0
// Archives of what models are made from: a config and its model, not a package. Archives from
// elsewhere (a repository's tar.gz, CMSDATA's data/...) are read as they are. Ours are plain tars,
// with the same bytes for the same files. One call per archive at a time.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/package/package_types.h"

namespace tfaot::toolkit {

// The files become FOLDER/path, in the order of their paths.
struct SourceArchive {
  std::string folder;
  std::vector<StagedFile> files;
};
Status write_source_archive(FileSystem& fs, const SourceArchive& source, const Path& archive);
// Of the archive that the call above would write. Writes nothing.
Result<std::string> sha256_of_source_archive(const FileSystem& fs, const SourceArchive& source,
                                             const Path& archive);

// Unpacks a tar, tar.gz, tar.zst, tar.bz2 or tar.xz into the empty or missing folder `destination`.
// Returns the paths of its files and links, sorted. Folders are created for their files; links must
// stay inside; anything else is refused. On failure the folder is removed.
Result<std::vector<std::string>> unpack_source_archive(FileSystem& fs, const Path& archive,
                                                       const Path& destination);

// The one folder that contains all paths; empty if there is more than one.
std::string top_folder(const std::vector<std::string>& paths);

}  // namespace tfaot::toolkit
