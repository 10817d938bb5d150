// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "tfaot/base/hash.h"
#include "tfaot/base/limits.h"
#include "tfaot/base/printable.h"
#include "tfaot/package/package.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/records/names.h"

namespace tfaot::toolkit {
namespace {

// How the file differs from its entry in the manifest; empty if it does not.
Result<std::string> difference(const FileSystem& fs, const Path& path, const ManifestFile& listed) {
  TFAOT_ASSIGN(const FileKind kind, fs.look(path));
  if (kind == FileKind::kMissing) return "is missing";
  if (kind != FileKind::kFile) return "is not a regular file";
  TFAOT_ASSIGN(const auto size, fs.size(path));
  if (size != listed.size) return fmt::format("has {} bytes instead of {}", size, listed.size);
  TFAOT_ASSIGN(const auto sha256, sha256_of_file(fs, path));
  return sha256 == listed.sha256 ? "" : "has other contents";
}

}  // namespace

std::string package_stem(const Manifest& manifest) {
  return fmt::format("{}-{}-{}", manifest.tool_name, manifest.version, manifest.architecture);
}

Result<std::vector<ManifestFile>> hash_staged_files(const FileSystem& fs,
                                                    const std::vector<StagedFile>& files) {
  std::vector<ManifestFile> hashed;
  for (const StagedFile& file : files) {
    if (!is_package_path(file.path) || file.path == kManifestName) {
      return fail(
          Error::internal(fmt::format("'{}' cannot be a file of a package", shown(file.path))));
    }
    if (file.source.empty()) {
      hashed.push_back({file.path, sha256_of(file.text), file.text.size()});
      continue;
    }
    TFAOT_ASSIGN(const auto size, fs.size(file.source));
    std::string sha256 = file.sha256;
    if (sha256.empty()) {
      TFAOT_ASSIGN(sha256, sha256_of_file(fs, file.source));
    }
    hashed.push_back({file.path, std::move(sha256), size});
  }
  const auto path_of = &ManifestFile::path;
  std::ranges::sort(hashed, {}, path_of);
  const auto doubled = std::ranges::adjacent_find(hashed, {}, path_of);
  if (doubled != hashed.end()) {
    return fail(
        Error::internal(fmt::format("two files of the package are called '{}'", doubled->path)));
  }
  return hashed;
}

Result<Manifest> read_tree(const FileSystem& fs, const Path& root) {
  const Path file = root / kManifestName;
  TFAOT_ASSIGN(const FileKind kind, fs.look(file));
  if (kind == FileKind::kMissing && is_torn_tree(fs, root)) {
    return fail(Error::at({root.string()}, "a killed run left this package tree incomplete")
                    .note("run that command again: 'tfaot compile', 'update-weights' or 'tune' "
                          "completes it"));
  }
  if (kind == FileKind::kMissing) {
    return fail(Error::at({root.string()}, "not a model package: it holds no manifest.json")
                    .note("name the folder that 'tfaot compile' or 'tfaot install' wrote"));
  }
  return read_manifest(fs, file);
}

Result<Manifest> verify_tree(const FileSystem& fs, const Path& root) {
  TFAOT_ASSIGN(Manifest manifest, read_tree(fs, root));
  const Path file = root / kManifestName;
  TFAOT_ASSIGN(const std::string text, read_limited(fs, file, kManifestLimit));
  TFAOT_TRY(check_own_hash(text, file.string()));
  Error damage = Error::at({root.string()}, "the package's files differ from its manifest");
  for (const ManifestFile& listed : manifest.files) {
    TFAOT_ASSIGN(const auto reason, difference(fs, root / listed.path, listed));
    if (!reason.empty()) damage.note(fmt::format("{} {}", listed.path, reason));
  }
  if (damage.notes().empty()) return manifest;
  return fail(std::move(damage).note("compile or install the model again"));
}

}  // namespace tfaot::toolkit
