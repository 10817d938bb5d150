// SPDX-License-Identifier: Apache-2.0
// Package trees and archives. A package tree is a folder with manifest.json at its root. An archive
// is TOOL-VERSION-ARCH.tar.zst (or .tar.gz). It contains TOOL-VERSION-ARCH/ with the manifest
// first, then the files that it lists, and nothing else. Reproducible: sorted, owner 0, fixed
// mtime, mode 0644. The only user of libarchive. One call per archive at a time.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/package/package_types.h"

namespace tfaot::toolkit {

struct ArchiveOptions {
  ArchiveFormat format = ArchiveFormat::kTarZst;
  int level = 0;  // compression level, 0: the format's default
  // Returns texts that replace files of the tree in the archive, by their paths. Called once the
  // tree is verified.
  std::function<Result<std::vector<StagedFile>>(const Manifest&)> instead = {};
};

// Hashes the files (text or source) for the manifest. Sorted by path. Fails on a duplicate or
// unsafe path.
Result<std::vector<ManifestFile>> hash_staged_files(const FileSystem& fs,
                                                    const std::vector<StagedFile>& files);

// Writes files and manifest into `root`. Keeps files that are equal, removes files that only an
// older manifest there lists, and never replaces a file that tfaot did not write. Everything is
// written to a side folder, then renamed, the manifest last: a failure leaves the tree as it was. A
// tree with a manifest is complete, even after a kill; repair_tree() completes a tree without one.
// A signal before the renames counts as a failure.
Status write_tree(FileSystem& fs, const std::vector<StagedFile>& files, const Manifest& manifest,
                  const Path& root);

// Reads root/manifest.json. verify also hashes every listed file and reports files that differ or
// are missing.
Result<Manifest> read_tree(const FileSystem& fs, const Path& root);
Result<Manifest> verify_tree(const FileSystem& fs, const Path& root);

// "tfaot-model-test-1.0.0-x86_64-linux"
std::string package_stem(const Manifest& manifest);

// Verifies the tree at `root`, then writes OUTPUT_DIRECTORY/<stem>.<ext> in one step.
Result<Package> make_archive(FileSystem& fs, const Path& root, const Path& output_directory,
                             const ArchiveOptions& options);

struct ExtractOptions {
  bool allow_large = false;  // however large its unpacked files are (limits.h)
};

// An opened archive whose manifest has been read. The archive is read once: what is checked or
// unpacked belongs to that manifest, even if another file replaces the archive meanwhile. One
// thread.
class PackageArchive {
 public:
  // REQUIRES: fs outlives it.
  static Result<PackageArchive> open(const FileSystem& fs, const Path& archive);
  PackageArchive(PackageArchive&&) noexcept;
  PackageArchive& operator=(PackageArchive&&) = delete;
  ~PackageArchive();

  const Manifest& manifest() const;
  // Call one of the two, once.
  // Unpacks into the empty or missing folder `destination` and checks every file against the
  // manifest: size and SHA-256, nothing missing, nothing extra, regular files only, no path that
  // leaves the folder. On failure the folder is removed.
  Status unpack(FileSystem& fs, const Path& destination, const ExtractOptions& options = {});
  // The same checks, but nothing is written.
  Status check();
  // Of the archive's bytes. REQUIRES: unpack() or check() has succeeded; call it once.
  std::string sha256();

 private:
  struct Parts;
  explicit PackageArchive(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

// Reads only the manifest, without unpacking.
Result<Manifest> read_archive_manifest(const FileSystem& fs, const Path& archive);

// PackageArchive::unpack() of an archive.
Result<Manifest> extract_archive(FileSystem& fs, const Path& archive, const Path& destination,
                                 const ExtractOptions& options = {});

// Repairs a package tree after a killed run. write_tree() puts all new files into a side folder of
// the tree before it renames them, so an incomplete tree contains all that is needed to complete
// it.

// Finishes or undoes what a killed run began. If all new files were written, they are moved in,
// because the old tree may be incomplete by then. Otherwise they are removed, and the tree is as it
// was. write_tree() calls this first. REQUIRES: no other process works on the tree.
Status repair_tree(FileSystem& fs, const Path& root);
// True if the tree has no manifest now, but repair_tree() would complete it.
bool is_torn_tree(const FileSystem& fs, const Path& root);
// The manifest that the tree will have then.
Result<Manifest> read_torn_tree(const FileSystem& fs, const Path& root);

}  // namespace tfaot::toolkit
