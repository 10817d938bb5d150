// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <new>
#include <optional>

#include "archive_handles.h"
#include "package_path.h"
#include "tfaot/base/hash.h"
#include "tfaot/generate/manifest_json.h"
#include "tfaot/package/package.h"

namespace tfaot {
namespace {

constexpr time_t kReproducibleTime =
    315532800;  // 1980-01-01 00:00:00 UTC: tar calls 1970 implausible

struct FormatTraits {
  const char* extension;
  const char* filter;
  int (*add_filter)(archive*);
};

FormatTraits traits_of(ArchiveFormat format) {
  return format == ArchiveFormat::kTarGz
             ? FormatTraits{".tar.gz", "gzip", archive_write_add_filter_gzip}
             : FormatTraits{".tar.zst", "zstd", archive_write_add_filter_zstd};
}

// Writes entries through libarchive into a sink. An Error of the sink passes through libarchive
// unharmed.
class ArchiveWriter {
 public:
  ArchiveWriter(Path name, const ChunkSink& sink) : name_(std::move(name)), sink_(sink) {
    if (!handle_ || !entry_) throw std::bad_alloc();
  }
  ArchiveWriter(const ArchiveWriter&) = delete;
  ArchiveWriter& operator=(const ArchiveWriter&) = delete;

  Status open(const ArchiveOptions& options) {
    const FormatTraits format = traits_of(options.format);
    archive* const handle = handle_.get();
    // ustar where it suffices, pax headers for long paths and big files only.
    TFAOT_TRY(check(archive_write_set_format_pax_restricted(handle)));
    TFAOT_TRY(check(format.add_filter(handle)));  // both filters use one thread
    if (options.format == ArchiveFormat::kTarGz) {
      TFAOT_TRY(check(archive_write_set_filter_option(handle, "gzip", "timestamp", nullptr)));
    }
    if (options.level != 0) {
      const std::string level = std::to_string(options.level);
      if (archive_write_set_filter_option(handle, format.filter, "compression-level",
                                          level.c_str()) != ARCHIVE_OK) {
        return fail(
            Error::usage(fmt::format("{} has no compression level {}", format.filter, level)));
      }
    }
    TFAOT_TRY(
        check(archive_write_set_bytes_in_last_block(handle, 1)));  // no padding behind the end
    return check(archive_write_open2(handle, this, nullptr, write_callback, nullptr, nullptr));
  }

  Status begin_file(const std::string& path, std::uint64_t size) {
    archive_entry_clear(entry_.get());
    archive_entry_set_pathname(entry_.get(), path.c_str());
    archive_entry_set_filetype(entry_.get(), AE_IFREG);
    archive_entry_set_perm(entry_.get(), 0644);
    archive_entry_set_size(entry_.get(), static_cast<la_int64_t>(size));
    archive_entry_set_mtime(entry_.get(), kReproducibleTime, 0);
    archive_entry_set_uid(entry_.get(), 0);
    archive_entry_set_gid(entry_.get(), 0);
    archive_entry_set_uname(entry_.get(), "");
    archive_entry_set_gname(entry_.get(), "");
    return check(archive_write_header(handle_.get(), entry_.get()));
  }

  Status write(std::string_view bytes) {
    const la_ssize_t written = archive_write_data(handle_.get(), bytes.data(), bytes.size());
    if (written >= 0 && static_cast<std::size_t>(written) == bytes.size()) return {};
    return failure();
  }

  Status close() { return check(archive_write_close(handle_.get())); }

 private:
  static la_ssize_t write_callback(archive*, void* self, const void* bytes, std::size_t size) {
    auto& writer = *static_cast<ArchiveWriter*>(self);
    if (writer.error_) return -1;
    const Status status = writer.sink_({static_cast<const char*>(bytes), size});
    if (status) return static_cast<la_ssize_t>(size);
    writer.error_ = status.error();
    return -1;
  }

  Status check(int code) const { return code == ARCHIVE_OK ? Status() : failure(); }

  Status failure() const {
    if (error_) return fail(*error_);
    const char* reason = archive_error_string(handle_.get());
    return fail(
        Error::at({name_.string()}, fmt::format("cannot write the archive: {}",
                                                reason != nullptr ? reason : "unknown reason")));
  }

  Path name_;
  const ChunkSink& sink_;
  std::optional<Error> error_;
  ArchiveEntryHandle entry_{archive_entry_new()};
  ArchiveWriteHandle handle_{archive_write_new()};  // last: freeing it may call write_callback
};

// Hashes again what verify_tree() has seen, as another process may write there.
Status add_file(ArchiveWriter& writer, const FileSystem& fs, const Path& source,
                const std::string& path, const ManifestFile& listed) {
  Sha256 hash;
  std::uint64_t size = 0;
  const auto changed = [&source] {
    return fail(Error::at({source.string()}, "the file changed while it was packed")
                    .note("let the build finish, then package the model again"));
  };
  TFAOT_TRY(writer.begin_file(path, listed.size));
  TFAOT_TRY(fs.read_chunks(source, [&](std::string_view chunk) -> Status {
    size += chunk.size();
    if (size > listed.size) return changed();
    hash.update(chunk);
    return writer.write(chunk);
  }));
  if (size != listed.size || hash.hex_digest() != listed.sha256) return changed();
  return {};
}

}  // namespace

Result<Package> make_archive(FileSystem& fs, const Path& root, const Path& output_directory,
                             const ArchiveOptions& options) {
  Package package;
  TFAOT_ASSIGN(package.manifest, verify_tree(fs, root));
  const std::string stem = package_stem(package.manifest);
  package.archive = output_directory / (stem + traits_of(options.format).extension);
  StagedFile instead;
  if (options.instead) {
    TFAOT_ASSIGN(instead, options.instead(package.manifest));
  }
  for (ManifestFile& file : package.manifest.files) {
    if (file.path != instead.path) continue;
    file.sha256 = sha256_of(instead.text);
    file.size = instead.text.size();
  }
  const std::string manifest_text = manifest_to_json(package.manifest);

  Sha256 hash;
  const auto produce = [&](const ChunkSink& out) -> Status {
    const ChunkSink sink = [&](std::string_view chunk) {
      hash.update(chunk);
      package.size += chunk.size();
      return out(chunk);
    };
    ArchiveWriter writer(package.archive, sink);
    TFAOT_TRY(writer.open(options));
    TFAOT_TRY(writer.begin_file(fmt::format("{}/{}", stem, kManifestName), manifest_text.size()));
    TFAOT_TRY(writer.write(manifest_text));
    for (const ManifestFile& file : package.manifest.files) {
      const std::string path = stem + "/" + file.path;
      if (file.path == instead.path) {
        TFAOT_TRY(writer.begin_file(path, file.size));
        TFAOT_TRY(writer.write(instead.text));
      } else {
        TFAOT_TRY(add_file(writer, fs, root / file.path, path, file));
      }
    }
    return writer.close();
  };
  TFAOT_TRY(fs.write_chunks(package.archive, produce));
  package.sha256 = hash.hex_digest();
  return package;
}

}  // namespace tfaot
