// SPDX-License-Identifier: Apache-2.0
#include "area_update.h"

#include <fmt/format.h>

#include <utility>

#include "area_layout.h"

namespace tfaot::toolkit {

AreaUpdate::AreaUpdate(FileSystem& fs, Path area) : fs_(fs), area_(std::move(area)) {}

// What cannot be removed here, the next install removes.
AreaUpdate::~AreaUpdate() {
  const DespiteInterrupts cleaning;
  if (!is_whole_) take_back();
  for (const Entry& entry : entries_) {
    if (entry.exchanged) continue;  // the caller's staging folder
    static_cast<void>(fs_.remove_all(entry.coming));
    if (!entry.copy.empty()) static_cast<void>(fs_.remove_all(entry.copy));
  }
}

Path AreaUpdate::aside(const char* what) const {
  return private_folder(area_) / fmt::format("{}{}-{}", kStagingPrefix, what, entries_.size());
}

Status AreaUpdate::make_folder(const Path& folder) {
  TFAOT_ASSIGN(const FileKind kind, fs_.look(folder));
  if (kind != FileKind::kMissing) return {};
  TFAOT_TRY(make_folder(folder.parent_path()));
  made_.push_back(folder);
  return fs_.create_directories(folder);
}

// REQUIRES: entry.coming is there.
Status AreaUpdate::add(Entry entry) {
  const Path copy = aside("old");
  entries_.push_back(entry);  // from here on it is tidied up
  TFAOT_TRY(make_folder(entry.place.parent_path()));
  TFAOT_ASSIGN(const FileKind kind, fs_.look(entry.place));
  if (kind == FileKind::kMissing) return {};
  entries_.back().copy = copy;
  if (kind == FileKind::kFile || kind == FileKind::kSymlink) {
    return fs_.copy_entry(entry.place, copy);
  }
  return fail(Error::at({entry.place.string()}, "neither a file nor a link, so it is not replaced")
                  .note("move it away, then install again"));
}

Status AreaUpdate::put_link(const Path& target, const Path& link) {
  if (const auto old = fs_.read_symlink(link); old && *old == target) return {};
  const Path coming = aside("new");
  TFAOT_TRY(fs_.replace_symlink(target, coming));
  return add({.coming = coming, .place = link});
}

Status AreaUpdate::put_file(const std::string& text, const Path& file) {
  if (fs_.kind(file) == FileKind::kFile) {
    if (const auto old = fs_.read(file); old && *old == text) return {};
  }
  return renew_file(text, file);
}

Status AreaUpdate::renew_file(const std::string& text, const Path& file) {
  const Path coming = aside("new");
  TFAOT_TRY(fs_.replace_atomically(coming, text));
  return add({.coming = coming, .place = file});
}

Status AreaUpdate::put_folder(const Path& staging, const Path& destination) {
  TFAOT_TRY(make_folder(destination.parent_path()));
  TFAOT_ASSIGN(const FileKind kind, fs_.look(destination));
  entries_.push_back(
      {.coming = staging, .place = destination, .exchanged = kind != FileKind::kMissing});
  return {};
}

Status AreaUpdate::commit() {
  TFAOT_TRY(check_interrupts());
  const DespiteInterrupts commit;
  for (const Entry& entry : entries_) {
    if (!entry.exchanged) {
      TFAOT_TRY(fs_.rename(entry.coming, entry.place));
    } else if (auto exchanged = fs_.exchange(entry.coming, entry.place); !exchanged) {
      return fail(std::move(exchanged).error().note(
          "some disks (NFS) cannot replace a folder in one step: give the new package another "
          "version"));
    }
    ++renamed_;
  }
  is_whole_ = true;
  return {};
}

void AreaUpdate::take_back() {
  for (; renamed_ > 0; --renamed_) {
    const Entry& entry = entries_[renamed_ - 1];
    static_cast<void>(entry.exchanged      ? fs_.exchange(entry.coming, entry.place)
                      : entry.copy.empty() ? fs_.rename(entry.place, entry.coming)
                                           : fs_.rename(entry.copy, entry.place));
  }
  for (; !made_.empty(); made_.pop_back()) {
    const auto names = fs_.list(made_.back());
    if (names && names->empty()) static_cast<void>(fs_.remove_all(made_.back()));
  }
}

}  // namespace tfaot::toolkit
