// SPDX-License-Identifier: Apache-2.0
// Records of the package room.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

#include "tfaot/records/manifest.h"
#include "tfaot/records/words.h"

namespace tfaot::toolkit {

enum class ArchiveFormat { kTarZst, kTarGz };

// Each archive's name ends with a dot and its word.
template <>
inline constexpr auto kWords<ArchiveFormat> = std::to_array<Word<ArchiveFormat>>(
    {{ArchiveFormat::kTarZst, "tar.zst"}, {ArchiveFormat::kTarGz, "tar.gz"}});

// By the end of its name: kTarZst unless it is ".gz".
ArchiveFormat archive_format(const std::filesystem::path& archive);

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
