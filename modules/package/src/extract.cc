// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <utility>

#include "archive_reader.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/limits.h"
#include "tfaot/package/package.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/manifest_json.h"

namespace tfaot::toolkit {
// make_archive() puts it first, so that everything after it can be checked while it is read.
struct ManifestEntry {
  std::string stem;
  std::string text;
  Manifest manifest;
};

namespace {

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

// The file's path below the stem, if the manifest lists it with that size and it has not come
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

// Checked before anything is written: a small file must not fill a disk.
Status check_unpacked_size(const ArchiveReader& reader, const Manifest& manifest) {
  TFAOT_ASSIGN(const std::uint64_t archive_size, reader.archive_size());
  std::uint64_t size = 0;
  for (const ManifestFile& file : manifest.files) {
    if (__builtin_add_overflow(size, file.size, &size)) size = ~std::uint64_t{0};
  }
  if (size <= most_unpacked(archive_size)) return {};
  return fail(reader
                  .refused(fmt::format("it has {} bytes and would unpack to {}, but at most {} are "
                                       "expected of such an archive",
                                       archive_size, size, most_unpacked(archive_size)))
                  .note("if you trust it, add --allow-large"));
}

// Takes a file's path and a function that writes the file into a sink. Decides where the file goes.
using FileWriter = std::function<Status(const std::string& path,
                                        const std::function<Status(const ChunkSink&)>& producer)>;

// Reads the files after the manifest: all of them and no others.
Status read_files(ArchiveReader& reader, const ManifestEntry& manifest, const FileWriter& write) {
  std::map<std::string, const ManifestFile*> awaited{
      {std::string(kManifestName), nullptr}};  // null: already read
  for (const ManifestFile& file : manifest.manifest.files) awaited.emplace(file.path, &file);
  for (;;) {
    TFAOT_ASSIGN(const auto file, reader.next());
    if (!file) break;
    TFAOT_ASSIGN(const auto path, checked_path(reader, *file, manifest, awaited));
    const ManifestFile& listed = *std::exchange(awaited[path], nullptr);
    TFAOT_TRY(
        write(path, [&](const ChunkSink& sink) { return copy_checked(reader, listed, sink); }));
  }
  for (const auto& [path, listed] : awaited) {
    if (listed != nullptr) return fail(reader.refused(fmt::format("it lacks '{}'", path)));
  }
  return {};
}

}  // namespace

struct PackageArchive::Parts {
  ArchiveReader reader;
  ManifestEntry manifest;
};

PackageArchive::PackageArchive(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
PackageArchive::PackageArchive(PackageArchive&&) noexcept = default;
PackageArchive::~PackageArchive() = default;

Result<PackageArchive> PackageArchive::open(const FileSystem& fs, const Path& archive) {
  TFAOT_ASSIGN(ArchiveReader reader, ArchiveReader::open(fs, archive));
  TFAOT_ASSIGN(ManifestEntry manifest, read_manifest_entry(reader, archive));
  return PackageArchive(std::make_unique<Parts>(Parts{std::move(reader), std::move(manifest)}));
}

const Manifest& PackageArchive::manifest() const { return parts_->manifest.manifest; }

Status PackageArchive::check() {
  return read_files(parts_->reader, parts_->manifest, [](const std::string&, const auto& producer) {
    return producer([](std::string_view) { return Status(); });
  });
}

Status PackageArchive::unpack(FileSystem& fs, const Path& destination,
                              const ExtractOptions& options) {
  if (!options.allow_large) {
    TFAOT_TRY(check_unpacked_size(parts_->reader, parts_->manifest.manifest));
  }
  TFAOT_ASSIGN(const FileKind there, fs.look(destination));
  if (there != FileKind::kMissing) {
    TFAOT_ASSIGN(const auto names, fs.list(destination));
    if (!names.empty()) {
      return fail(Error::at({destination.string()}, "cannot unpack into a folder that is not empty")
                      .note("remove the folder, or name another one"));
    }
  }
  Status unpacked = read_files(parts_->reader, parts_->manifest,
                               [&](const std::string& path, const auto& producer) {
                                 return fs.write_chunks(destination / path, producer);
                               });
  if (unpacked) {
    unpacked = fs.replace_atomically(destination / kManifestName, parts_->manifest.text);
  }
  if (unpacked) return {};
  Error error = std::move(unpacked).error();
  if (const auto removed = fs.remove_all(destination); !removed) error.note(removed.error().text());
  return fail(std::move(error));
}

Result<Manifest> read_archive_manifest(const FileSystem& fs, const Path& archive) {
  TFAOT_ASSIGN(const PackageArchive opened, PackageArchive::open(fs, archive));
  return opened.manifest();
}

Result<Manifest> extract_archive(FileSystem& fs, const Path& archive, const Path& destination,
                                 const ExtractOptions& options) {
  TFAOT_ASSIGN(PackageArchive opened, PackageArchive::open(fs, archive));
  TFAOT_TRY(opened.unpack(fs, destination, options));
  return opened.manifest();
}

}  // namespace tfaot::toolkit
