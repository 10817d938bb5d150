// SPDX-License-Identifier: Apache-2.0
#include "archive_samples.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "package_samples.h"
#include "tfaot/records/manifest_json.h"

namespace tfaot::toolkit::testing {
namespace {

void must(int code, archive* handle) {
  if (code != ARCHIVE_OK) throw std::runtime_error(archive_error_string(handle));
}

la_ssize_t append(archive*, void* text, const void* bytes, std::size_t size) {
  static_cast<std::string*>(text)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

void set_kind(archive_entry* entry, const Entry& sample) {
  archive_entry_set_perm(entry, 0644);
  archive_entry_set_size(entry, 0);
  switch (sample.kind) {
    case EntryKind::kFile:
      archive_entry_set_filetype(entry, AE_IFREG);
      archive_entry_set_size(entry, static_cast<la_int64_t>(sample.contents.size()));
      break;
    case EntryKind::kFolder:
      archive_entry_set_filetype(entry, AE_IFDIR);
      break;
    case EntryKind::kSymlink:
      archive_entry_set_filetype(entry, AE_IFLNK);
      archive_entry_set_symlink(entry, sample.contents.c_str());
      break;
    case EntryKind::kHardlink:
      archive_entry_set_filetype(entry, AE_IFREG);
      archive_entry_set_hardlink(entry, sample.contents.c_str());
      break;
    case EntryKind::kDevice:
      archive_entry_set_filetype(entry, AE_IFCHR);
      break;
  }
}

using Writer = std::unique_ptr<archive, int (*)(archive*)>;

Writer open_writer(std::string& bytes, int (*set_format)(archive*), int (*add_filter)(archive*)) {
  Writer writer(archive_write_new(), archive_write_free);
  archive* const handle = writer.get();
  must(set_format(handle), handle);
  must(add_filter(handle), handle);
  must(archive_write_set_bytes_in_last_block(handle, 1), handle);
  must(archive_write_open2(handle, &bytes, nullptr, append, nullptr, nullptr), handle);
  return writer;
}

std::string make_tar(const std::vector<Entry>& entries, int (*add_filter)(archive*)) {
  std::string bytes;
  const Writer writer = open_writer(bytes, archive_write_set_format_pax_restricted, add_filter);
  archive* const handle = writer.get();
  for (const Entry& sample : entries) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                         archive_entry_free);
    archive_entry_set_pathname(entry.get(), sample.path.c_str());
    set_kind(entry.get(), sample);
    must(archive_write_header(handle, entry.get()), handle);
    if (sample.kind == EntryKind::kFile) {
      archive_write_data(handle, sample.contents.data(), sample.contents.size());
    }
  }
  must(archive_write_close(handle), handle);
  return bytes;
}

}  // namespace

std::string make_tar(const std::vector<Entry>& entries) {
  return make_tar(entries, archive_write_add_filter_none);
}
std::string make_tar_zst(const std::vector<Entry>& entries) {
  return make_tar(entries, archive_write_add_filter_zstd);
}
std::string make_tar_gz(const std::vector<Entry>& entries) {
  return make_tar(entries, archive_write_add_filter_gzip);
}

std::string zstd_of(const std::string& bytes) {
  std::string compressed;
  const Writer writer =
      open_writer(compressed, archive_write_set_format_raw, archive_write_add_filter_zstd);
  archive* const handle = writer.get();
  const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                       archive_entry_free);
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  must(archive_write_header(handle, entry.get()), handle);
  if (archive_write_data(handle, bytes.data(), bytes.size()) !=
      static_cast<la_ssize_t>(bytes.size())) {
    throw std::runtime_error(archive_error_string(handle));
  }
  must(archive_write_close(handle), handle);
  return compressed;
}

std::vector<EntryHeader> list_archive(const std::string& bytes) {
  std::vector<EntryHeader> headers;
  const std::unique_ptr<archive, int (*)(archive*)> reader(archive_read_new(), archive_read_free);
  archive* const handle = reader.get();
  must(archive_read_support_format_tar(handle), handle);
  must(archive_read_support_filter_all(handle), handle);
  must(archive_read_open_memory(handle, bytes.data(), bytes.size()), handle);
  archive_entry* entry = nullptr;
  while (archive_read_next_header(handle, &entry) == ARCHIVE_OK) {
    headers.push_back({archive_entry_pathname(entry),
                       static_cast<std::uint64_t>(archive_entry_size(entry)),
                       archive_entry_mode(entry), archive_entry_mtime(entry),
                       archive_entry_uid(entry), archive_entry_gid(entry),
                       std::string(archive_entry_uname(entry)) + ":" + archive_entry_gname(entry)});
  }
  return headers;
}

std::vector<Entry> sample_entries() {
  const auto files = sample_files();
  std::vector<Entry> entries = {
      {kStem + "/manifest.json", manifest_to_json(sample_manifest(files))}};
  for (const StagedFile& file : files) entries.push_back({kStem + "/" + file.path, file.text});
  return entries;
}

}  // namespace tfaot::toolkit::testing
