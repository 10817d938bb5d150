// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <utility>

#include "archive_reader.h"
#include "package_path.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/limits.h"
#include "tfaot/generate/manifest_json.h"
#include "tfaot/package/check_archive.h"
#include "tfaot/package/package.h"

namespace tfaot {
namespace {

// What make_archive() puts first, so that all that follows is checked on the way.
struct ManifestEntry {
  std::string stem;
  std::string text;
  Manifest manifest;
};

Result<ManifestEntry> read_manifest_entry(ArchiveReader& reader, const Path& archive) {
  TFAOT_ASSIGN(const auto file, reader.next());
  const auto slash = file ? file->path.find('/') : std::string::npos;
  if (slash == std::string::npos || file->path.substr(slash + 1) != kManifestName) {
    return fail(reader.refused("it does not begin with manifest.json"));
  }
  if (file->size > kManifestLimit.bytes) {
    return fail(reader.refused("its manifest.json " + over_limit(file->size, kManifestLimit)));
  }
  ManifestEntry entry;
  entry.stem = file->path.substr(0, slash);
  TFAOT_TRY(reader.read([&entry](std::string_view chunk) -> Status {
    entry.text += chunk;
    return {};
  }));
  TFAOT_ASSIGN(entry.manifest, manifest_from_json(entry.text, (archive / file->path).string()));
  reader.set_ours();
  if (entry.stem != package_stem(entry.manifest)) {
    return fail(reader.refused(fmt::format("its folder is '{}', its manifest says '{}'", entry.stem,
                                           package_stem(entry.manifest))));
  }
  return entry;
}

// The file's path below the stem, when the manifest lists it, at that size, and it was not there
// before.
Result<std::string> checked_path(const ArchiveReader& reader, const ArchiveFile& file,
                                 const ManifestEntry& manifest,
                                 std::map<std::string, const ManifestFile*>& awaited) {
  if (!file.path.starts_with(manifest.stem + "/")) {
    return fail(reader.refused(
        fmt::format("'{}' is outside the package's folder '{}'", file.path, manifest.stem)));
  }
  std::string path = file.path.substr(manifest.stem.size() + 1);
  const auto found = awaited.find(path);
  if (found == awaited.end()) {
    return fail(
        reader.refused(fmt::format("it holds '{}', which its manifest does not list", path)));
  }
  if (found->second == nullptr)
    return fail(reader.refused(fmt::format("it holds '{}' twice", path)));
  if (found->second->size != file.size) {
    return fail(reader.refused(fmt::format("'{}' has {} bytes, its manifest says {}", path,
                                           file.size, found->second->size)));
  }
  return path;
}

Status copy_checked(ArchiveReader& reader, const ManifestFile& listed, const ChunkSink& sink) {
  Sha256 hash;
  TFAOT_TRY(reader.read([&](std::string_view chunk) {
    hash.update(chunk);
    return sink(chunk);
  }));
  if (hash.hex_digest() == listed.sha256) return {};
  return fail(
      reader.refused(fmt::format("'{}' differs from its SHA-256 in the manifest", listed.path)));
}

// Before anything is written: a small file must not fill a disk.
Status check_unpacked_size(const ArchiveReader& reader, const Manifest& manifest,
                           std::uint64_t archive_size) {
  std::uint64_t size = 0;
  for (const ManifestFile& file : manifest.files) {
    if (__builtin_add_overflow(size, file.size, &size)) size = ~std::uint64_t{0};
  }
  if (size <= most_unpacked(archive_size)) return {};
  return fail(reader
                  .refused(fmt::format("it has {} bytes and would unpack to {}, but at most {} are "
                                       "expected of such an archive",
                                       archive_size, size, most_unpacked(archive_size)))
                  .note("if you trust it, say --allow-large"));
}

using Producer = std::function<Status(const ChunkSink&)>;
// Takes a file's path and what gives its contents.
using FileWriter = std::function<Status(const std::string&, const Producer&)>;

// The files behind the manifest, all of them and no others.
Status read_files(ArchiveReader& reader, const ManifestEntry& manifest, const FileWriter& write) {
  std::map<std::string, const ManifestFile*> awaited{
      {std::string(kManifestName), nullptr}};  // null: came
  for (const ManifestFile& file : manifest.manifest.files) awaited.emplace(file.path, &file);
  for (;;) {
    TFAOT_ASSIGN(const auto file, reader.next());
    if (!file) break;
    TFAOT_ASSIGN(const auto path, checked_path(reader, *file, manifest, awaited));
    const ManifestFile& listed = *std::exchange(awaited[path], nullptr);
    const auto produce = [&](const ChunkSink& sink) { return copy_checked(reader, listed, sink); };
    TFAOT_TRY(write(path, produce));
  }
  for (const auto& [path, listed] : awaited) {
    if (listed != nullptr) return fail(reader.refused(fmt::format("it lacks '{}'", path)));
  }
  return {};
}

Result<Manifest> unpack(FileSystem& fs, const Path& archive, const Path& destination,
                        const ExtractOptions& options) {
  TFAOT_ASSIGN(ArchiveReader reader, ArchiveReader::open(fs, archive));
  TFAOT_ASSIGN(ManifestEntry manifest, read_manifest_entry(reader, archive));
  TFAOT_ASSIGN(const std::uint64_t archive_size, fs.size(archive));
  if (!options.allow_large) {
    TFAOT_TRY(check_unpacked_size(reader, manifest.manifest, archive_size));
  }
  TFAOT_TRY(read_files(reader, manifest, [&](const std::string& path, const Producer& producer) {
    return fs.write_chunks(destination / path, producer);
  }));
  TFAOT_TRY(fs.replace_atomically(destination / kManifestName, manifest.text));
  return std::move(manifest.manifest);
}

}  // namespace

Result<Manifest> read_archive_manifest(const FileSystem& fs, const Path& archive) {
  TFAOT_ASSIGN(ArchiveReader reader, ArchiveReader::open(fs, archive));
  TFAOT_ASSIGN(ManifestEntry entry, read_manifest_entry(reader, archive));
  return std::move(entry.manifest);
}

Status check_archive(const FileSystem& fs, const Path& archive) {
  TFAOT_ASSIGN(ArchiveReader reader, ArchiveReader::open(fs, archive));
  TFAOT_ASSIGN(const ManifestEntry manifest, read_manifest_entry(reader, archive));
  return read_files(reader, manifest, [](const std::string&, const Producer& producer) {
    return producer([](std::string_view) { return Status(); });
  });
}

Result<Manifest> extract_archive(FileSystem& fs, const Path& archive, const Path& destination,
                                 const ExtractOptions& options) {
  if (fs.kind(destination) != FileKind::kMissing) {
    TFAOT_ASSIGN(const auto names, fs.list(destination));
    if (!names.empty()) {
      return fail(Error::at({destination.string()}, "cannot unpack into a folder that is not empty")
                      .note("remove the folder, or name another one"));
    }
  }
  auto manifest = unpack(fs, archive, destination, options);
  if (manifest) return manifest;
  Error error = std::move(manifest).error();
  if (const auto removed = fs.remove_all(destination); !removed) error.note(removed.error().text());
  return fail(std::move(error));
}

}  // namespace tfaot
