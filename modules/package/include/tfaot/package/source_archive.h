// SPDX-License-Identifier: Apache-2.0
// Archives of what models are made from: a config and its model, no package. Those of others (a
// repository's tar.gz, CMSDATA's data/...) are read as they come; ours are plain tars that hold the
// same bytes for the same files. One call per archive at a time.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/package/package_types.h"

namespace tfaot::toolkit {

// The files, in the order of their paths, become FOLDER/path.
struct SourceArchive {
  std::string folder;
  std::vector<StagedFile> files;
};
Status write_source_archive(FileSystem& fs, SourceArchive source, const Path& archive);

// Unpacks a tar, tar.gz, tar.zst, tar.bz2 or tar.xz into the empty or missing folder `destination`;
// gives the paths of its files and links, sorted. Folders come with their files; links must stay
// inside; nothing else is allowed. On failure the folder is removed.
Result<std::vector<std::string>> unpack_source_archive(FileSystem& fs, const Path& archive,
                                                       const Path& destination);

// The one folder that all paths lie in; empty when there is more than one.
std::string top_folder(const std::vector<std::string>& paths);

}  // namespace tfaot::toolkit
