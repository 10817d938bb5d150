// SPDX-License-Identifier: Apache-2.0
// Records of the package room.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "tfaot/records/manifest.h"

namespace tfaot::toolkit {

// A file that goes into a package tree: either text, or a copy of `source`.
struct StagedFile {
  std::string path;  // relative to the package's root, with '/'
  std::string text;
  std::filesystem::path source;  // used if not empty
  bool movable = false;          // the source may be moved, because nobody else needs it
  std::string sha256 = {};       // of the source; empty: not known yet
};

// An archive that was written.
struct Package {
  std::filesystem::path archive;
  std::string sha256;  // of the archive
  std::uint64_t size = 0;
  Manifest manifest;
};

}  // namespace tfaot::toolkit
