// SPDX-License-Identifier: Apache-2.0
// Package trees and archives. A package tree is a folder with manifest.json at its root; an archive
// is TOOL-VERSION-ARCH.tar.zst (or .tar.gz) holding TOOL-VERSION-ARCH/ with just the manifest,
// first, and the files it lists. Reproducible: sorted, owner 0, fixed mtime, mode 0644. The only
// user of libarchive. One call per archive at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/package/package_types.h"

namespace tfaot::toolkit {

enum class ArchiveFormat { kTarZst, kTarGz, kTar };

struct ArchiveOptions {
  ArchiveFormat format = ArchiveFormat::kTarZst;
  int level = 0;  // compression level, 0: the format's default
  // Gives texts that go in instead of the tree's files of those paths. Called once the tree is
  // verified.
  std::function<Result<std::vector<StagedFile>>(const Manifest&)> instead = {};
};

// Hashes the files (text or source), for the manifest. Sorted by path. Fails on a doubled or unsafe
// path.
Result<std::vector<ManifestFile>> hash_staged_files(const FileSystem& fs,
                                                    const std::vector<StagedFile>& files);

// Writes files and manifest into `root`; leaves equal files alone, removes what only an older
// manifest there lists, never replaces a file of others. All is put aside, then renamed, the
// manifest last: a failure leaves the tree as it was; one with a manifest is whole, even killed;
// one without is made whole by repair_tree.h. A signal before the renames counts as a failure.
Status write_tree(FileSystem& fs, const std::vector<StagedFile>& files, const Manifest& manifest,
                  const Path& root);

// Reads root/manifest.json; verify also hashes every listed file and names those that differ or are
// missing.
Result<Manifest> read_tree(const FileSystem& fs, const Path& root);
Result<Manifest> verify_tree(const FileSystem& fs, const Path& root);

// "tfaot-model-test-1.0.0-x86_64-linux"
std::string package_stem(const Manifest& manifest);

// Verifies the tree at `root`, then writes OUTPUT_DIRECTORY/<stem>.<ext> aside and renames it.
Result<Package> make_archive(FileSystem& fs, const Path& root, const Path& output_directory,
                             const ArchiveOptions& options);

struct ExtractOptions {
  bool allow_large = false;  // however much larger than the archive its files are (limits.h)
};

// An archive that was opened and whose manifest was read; the rest follows. It is read once: what
// is checked or unpacked belongs to that manifest, even when another file takes the archive's name
// meanwhile. One thread.
class PackageArchive {
 public:
  // REQUIRES: fs outlives it.
  static Result<PackageArchive> open(const FileSystem& fs, const Path& archive);
  PackageArchive(PackageArchive&&) noexcept;
  PackageArchive& operator=(PackageArchive&&) = delete;
  ~PackageArchive();

  const Manifest& manifest() const;
  // Once, one of the two.
  // Unpacks into the empty or missing folder `destination`, checking every file against the
  // manifest on the way: size and SHA-256, nothing missing, nothing extra, regular files only, no
  // path that leaves the folder. On failure the folder is removed.
  Status unpack(FileSystem& fs, const Path& destination, const ExtractOptions& options = {});
  // The same checks, but nothing is written.
  Status check();

 private:
  struct Parts;
  explicit PackageArchive(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Reads the manifest alone, without unpacking.
Result<Manifest> read_archive_manifest(const FileSystem& fs, const Path& archive);

// PackageArchive::unpack() of an archive.
Result<Manifest> extract_archive(FileSystem& fs, const Path& archive, const Path& destination,
                                 const ExtractOptions& options = {});

}  // namespace tfaot::toolkit
