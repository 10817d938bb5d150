// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "archive_writer.h"
#include "tfaot/base/hash.h"
#include "tfaot/package/package.h"
#include "tfaot/records/file_names.h"
#include "tfaot/records/manifest_json.h"

namespace tfaot::toolkit {
namespace {

// Hashes again what verify_tree() has checked, because another process may write there.
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

// The text that replaces a file of the tree, if there is one.
const std::string* text_instead(const std::vector<StagedFile>& instead, const std::string& path) {
  const auto found = std::ranges::find(instead, path, &StagedFile::path);
  return found == instead.end() ? nullptr : &found->text;
}

}  // namespace

Result<Package> make_archive(FileSystem& fs, const Path& root, const Path& output_directory,
                             const ArchiveOptions& options) {
  Package package;
  TFAOT_ASSIGN(package.manifest, verify_tree(fs, root));
  const std::string stem = package_stem(package.manifest);
  package.archive = output_directory / (stem + "." + word_of(options.format));
  std::vector<StagedFile> instead;
  if (options.instead) {
    TFAOT_ASSIGN(instead, options.instead(package.manifest));
  }
  for (ManifestFile& file : package.manifest.files) {
    const std::string* text = text_instead(instead, file.path);
    if (text == nullptr) continue;
    file.sha256 = sha256_of(*text);
    file.size = text->size();
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
    TFAOT_TRY(writer.open(options.format, options.level));
    TFAOT_TRY(writer.begin_file(fmt::format("{}/{}", stem, kManifestName), manifest_text.size()));
    TFAOT_TRY(writer.write(manifest_text));
    for (const ManifestFile& file : package.manifest.files) {
      const std::string path = stem + "/" + file.path;
      if (const std::string* text = text_instead(instead, file.path)) {
        TFAOT_TRY(writer.begin_file(path, file.size));
        TFAOT_TRY(writer.write(*text));
      } else {
        TFAOT_TRY(add_file(writer, fs, root / file.path, path, file));
      }
    }
    return writer.close();
  };
  static_cast<void>(fs.remove_half_written(output_directory));  // left by killed runs
  TFAOT_TRY(fs.write_chunks(package.archive, produce));
  package.sha256 = hash.hex_digest();
  return package;
}

}  // namespace tfaot::toolkit
