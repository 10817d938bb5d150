// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cerrno>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "archive_writer.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/hash.h"
#include "tfaot/base/limits.h"
#include "tfaot/package/package.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/manifest_json.h"
#include "tfaot/records/names.h"

namespace tfaot::toolkit {
// make_archive() puts it first, so that everything after it can be checked while it is read.
struct ManifestEntry {
  std::string stem;
  std::string text;
  Manifest manifest;
};

// libarchive allows headers of 1 MB for long names; real headers are far smaller.
constexpr std::uint64_t kHeadersOfAFile = std::uint64_t{1} << 16;

// The bytes of a tar.zst, tar.gz or tar, decompressed once, in pieces. Bytes that belong to no file
// are limited: a few compressed ones may stand for terabytes of zeros. Must not move, because
// libarchive keeps a pointer to it. One thread.
class DecompressedArchive {
 public:
  explicit DecompressedArchive(ArchiveSource source)
      : source_(std::move(source)), handle_(archive_read_new()), expected_(kStrayBytes) {
    if (!handle_) throw std::bad_alloc();
  }

  // False: the error of handle() says why.
  bool open() {
    archive* const handle = handle_.get();
    for (const int code :
         {archive_read_support_format_raw(handle), archive_read_support_format_empty(handle),
          archive_read_support_filter_zstd(handle), archive_read_support_filter_gzip(handle),
          archive_read_open(handle, this, nullptr, read_source, nullptr)}) {
      if (code != ARCHIVE_OK) return false;
    }
    constexpr int kOneAndTheFile = 2;
    if (archive_filter_count(handle) > kOneAndTheFile) {
      archive_set_error(handle, EILSEQ, "it is compressed more than once");
      return false;
    }
    archive_entry* entry = nullptr;  // the whole file, without a name
    const int code = archive_read_next_header(handle, &entry);
    is_empty_ = code == ARCHIVE_EOF;
    return code == ARCHIVE_OK || is_empty_;
  }

  // Announces a file of this size; its bytes do not count towards the limit.
  void expect_file(std::uint64_t bytes) {
    for (const std::uint64_t more : {bytes, kHeadersOfAFile}) {
      if (__builtin_add_overflow(expected_, more, &expected_)) expected_ = ~std::uint64_t{0};
    }
  }

  // A callback of archive_read_open().
  static la_ssize_t read(archive* reader, void* decompressed, const void** bytes) {
    auto& self = *static_cast<DecompressedArchive*>(decompressed);
    if (self.is_empty_) return 0;
    archive* const handle = self.handle_.get();
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int code = archive_read_data_block(handle, bytes, &size, &offset);
    if (code == ARCHIVE_EOF) return 0;
    if (code != ARCHIVE_OK) {
      archive_set_error(reader, archive_errno(handle), "%s", error_text(handle, "unknown").c_str());
      return -1;
    }
    self.given_ += size;
    if (self.given_ > self.expected_) {
      archive_set_error(
          reader, EILSEQ, "%s",
          fmt::format("more than {} bytes in it belong to no file", kStrayBytes).c_str());
      return -1;
    }
    return static_cast<la_ssize_t>(size);
  }

  const ArchiveSource& source() const { return source_; }
  // Of the compressed bytes read so far; call it once.
  std::string sha256() { return hash_.hex_digest(); }
  archive* handle() const { return handle_.get(); }
  // The number of compressed bytes read so far.
  std::uint64_t used() const {
    return static_cast<std::uint64_t>(archive_filter_bytes(handle_.get(), -1));
  }

 private:
  static la_ssize_t read_source(archive* reader, void* decompressed, const void** bytes) {
    auto& self = *static_cast<DecompressedArchive*>(decompressed);
    const la_ssize_t size = ArchiveSource::read(reader, &self.source_, bytes);
    if (size > 0) self.hash_.update(self.source_.buffer);
    return size;
  }

  ArchiveSource source_;
  Sha256 hash_;
  ArchiveReadHandle handle_;  // after source_, so freed before it
  bool is_empty_ = false;
  std::uint64_t given_ = 0;
  std::uint64_t expected_;
};

struct ArchiveFile {
  std::string path;        // is_package_path()
  std::uint64_t size = 0;  // as its header says
};

constexpr std::size_t kReadPiece = 1 << 20;

// Reads the regular files of a tar.zst or tar.gz one after another, in bounded memory. Refuses
// everything else: links, devices, folders, paths that leave the archive's folder, damage, bytes
// after the end. One thread.
class ArchiveReader {
 public:
  // REQUIRES: fs outlives the reader. The file is opened once: if another file replaces it
  // meanwhile, that one is not read.
  static Result<ArchiveReader> open(const FileSystem& fs, const Path& archive_path) {
    ArchiveSource source;
    source.path = archive_path;
    TFAOT_ASSIGN(source.file, fs.open(archive_path));
    ArchiveReader reader(std::make_unique<DecompressedArchive>(std::move(source)));
    if (!reader.bytes_->open()) return fail(reader.failure_of(reader.bytes_->handle()));
    archive* const handle = reader.handle_.get();
    // read_concatenated_archives: continues after the end-of-archive mark, so that nothing can hide
    // there.
    for (const int code :
         {archive_read_support_format_tar(handle),
          archive_read_set_format_option(handle, "tar", "read_concatenated_archives", "1"),
          archive_read_open(handle, reader.bytes_.get(), nullptr, DecompressedArchive::read,
                            nullptr)}) {
      if (code != ARCHIVE_OK) return fail(reader.failure());
    }
    return reader;
  }

  // The next file, or nothing after the last one. Then the archive has been read to its end.
  Result<std::optional<ArchiveFile>> next() {
    archive_entry* entry = nullptr;  // owned by the handle
    const int code = archive_read_next_header(handle_.get(), &entry);
    if (code == ARCHIVE_EOF) {
      TFAOT_TRY(check_end());
      return std::nullopt;
    }
    if (code != ARCHIVE_OK) return fail(failure());
    const char* const known_path = archive_entry_pathname(entry);
    const std::string path = known_path != nullptr ? known_path : "";
    if (const char* const kind = kind_of(entry)) {
      return fail(
          refused(fmt::format("'{}' is {}, a package holds regular files only", path, kind)));
    }
    if (!is_package_path(path)) {
      return fail(refused(
          fmt::format("it holds the path '{}', which may lead out of the package's folder", path)));
    }
    current_ = {path, static_cast<std::uint64_t>(archive_entry_size(entry))};
    bytes_->expect_file(current_.size);
    return current_;
  }

  // Feeds the contents of the file that next() returned: exactly its size in bytes.
  Status read(const ChunkSink& sink) {
    std::string buffer(std::min<std::uint64_t>(kReadPiece, current_.size + 1), '\0');
    std::uint64_t size = 0;
    for (;;) {
      const la_ssize_t count = archive_read_data(handle_.get(), buffer.data(), buffer.size());
      if (count < 0) return fail(failure());
      if (count == 0) break;
      size += static_cast<std::uint64_t>(count);
      if (size > current_.size) break;
      TFAOT_TRY(sink({buffer.data(), static_cast<std::size_t>(count)}));
    }
    if (size == current_.size) return {};
    return fail(refused(fmt::format("'{}' is not as long as its header says", current_.path)));
  }

  std::string sha256() { return bytes_->sha256(); }
  Result<std::uint64_t> archive_size() const { return bytes_->source().file->size(); }

  // From here on the archive counts as made by tfaot: any fault in it is damage.
  void set_ours() { ours_ = true; }
  // An Error at the archive, with what to do about it: damaged, or not a model package at all.
  Error refused(const std::string& reason) const {
    if (ours_) return damaged(reason);
    return Error::at({bytes_->source().path.string()}, "not a model package: " + reason)
        .note("'tfaot package' makes one from a package tree");
  }

 private:
  explicit ArchiveReader(std::unique_ptr<DecompressedArchive> bytes)
      : bytes_(std::move(bytes)), handle_(archive_read_new()) {
    if (!handle_) throw std::bad_alloc();
  }

  // The kind of an entry that is not a regular file, for messages.
  static const char* kind_of(archive_entry* entry) {
    if (archive_entry_hardlink(entry) != nullptr) return "a hard link";
    switch (archive_entry_filetype(entry)) {
      case AE_IFREG:
        return nullptr;
      case AE_IFLNK:
        return "a symbolic link";
      case AE_IFDIR:
        return "a folder";
      default:
        return "a device or another special file";
    }
  }

  // libarchive ignores what follows a gzip stream.
  Status check_end() const {
    TFAOT_ASSIGN(const auto size, archive_size());
    const std::uint64_t used = bytes_->used();
    if (used >= size) return {};
    return fail(refused(fmt::format("{} bytes follow its end", size - used)));
  }

  Error failure() const { return failure_of(handle_.get()); }

  Error failure_of(archive* handle) const {
    if (bytes_->source().error) return *bytes_->source().error;
    const std::string reason = error_text(handle, "unknown reason");
    // EILSEQ means a wrong format, so the bytes could be decompressed. Any other error means that
    // the archive is cut off.
    return archive_errno(handle) == EILSEQ ? refused(reason) : damaged(reason);
  }

  Error damaged(const std::string& reason) const {
    return Error::at({bytes_->source().path.string()}, "the archive is damaged: " + reason)
        .note("get the archive again, or make it again with 'tfaot package'");
  }

  std::unique_ptr<DecompressedArchive> bytes_;
  ArchiveReadHandle handle_;  // after bytes_, so freed before it
  ArchiveFile current_;
  bool ours_ = false;
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
  if (!check_own_hash(entry.text, "")) {
    return fail(reader.refused("its manifest.json differs from its own SHA-256"));
  }
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

std::string PackageArchive::sha256() { return parts_->reader.sha256(); }

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
