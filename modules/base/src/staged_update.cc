// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/staged_update.h"

#include <algorithm>
#include <utility>

#include "tfaot/base/interrupts.h"

namespace tfaot::toolkit {

StagedUpdate::StagedUpdate(FileSystem& fs, Path work)
    : fs_(fs), work_(std::move(work)), renames_(fs) {}

// What cannot be removed stays in a work folder. Its owner clears it next time.
StagedUpdate::~StagedUpdate() {
  const DespiteInterrupts cleaning;
  static_cast<void>(renames_.take_back());
  if (fs_.kind(work_) != FileKind::kMissing) static_cast<void>(fs_.remove_all(work_));
}

Path StagedUpdate::aside() { return work_ / std::to_string(names_++); }

Status StagedUpdate::put_made(const Path& made, const Path& place) {
  TFAOT_TRY(renames_.make_folders(place.parent_path()));
  TFAOT_ASSIGN(const FileKind kind, fs_.look(place));
  Path copy;
  if (kind == FileKind::kFile || kind == FileKind::kSymlink) {
    copy = aside();
    TFAOT_TRY(fs_.copy_entry(place, copy));
  } else if (kind != FileKind::kMissing) {
    return fail(Error::at({place.string()}, "neither a file nor a link, so it is not replaced")
                    .note("move it away, then run this again"));
  }
  entries_.push_back({.from = made, .to = place, .copy = std::move(copy)});
  return {};
}

Status StagedUpdate::put_link(const Path& target, const Path& link) {
  if (const auto old = fs_.read_symlink(link); old && *old == target) return {};
  const Path made = aside();
  TFAOT_TRY(fs_.replace_symlink(target, made));
  return put_made(made, link);
}

Status StagedUpdate::put_file(std::string_view text, const Path& file) {
  if (fs_.kind(file) == FileKind::kFile) {
    if (const auto old = fs_.read(file); old && *old == text) return {};
  }
  return renew_file(text, file);
}

Status StagedUpdate::renew_file(std::string_view text, const Path& file) {
  const Path made = aside();
  TFAOT_TRY(fs_.replace_atomically(made, text));
  return put_made(made, file);
}

Status StagedUpdate::put_folder(const Path& staging, const Path& destination, std::string advice) {
  TFAOT_TRY(renames_.make_folders(destination.parent_path()));
  TFAOT_ASSIGN(const FileKind kind, fs_.look(destination));
  if (kind == FileKind::kMissing) advice.clear();
  entries_.push_back({.from = staging, .to = destination, .advice = std::move(advice)});
  return {};
}

Status StagedUpdate::take_out(const Path& place) {
  entries_.push_back({.from = place, .to = aside()});
  return fs_.create_directories(work_);
}

Status StagedUpdate::commit() {
  TFAOT_TRY(check_interrupts());
  const DespiteInterrupts commit;
  for (const Entry& entry : entries_) {
    if (entry.advice.empty()) {
      TFAOT_TRY(renames_.replace(entry.from, entry.to, entry.copy));
    } else if (Status exchanged = renames_.exchange(entry.from, entry.to); !exchanged) {
      return fail(std::move(exchanged).error().note(entry.advice));
    }
  }
  renames_.keep();
  return {};
}

Renames::~Renames() {
  const DespiteInterrupts cleaning;
  if (!take_back()) return;
  std::ranges::reverse(made_);
  for (const Path& folder : made_) {
    const auto names = fs_.list(folder);
    if (names && names->empty()) static_cast<void>(fs_.remove_all(folder));
  }
}

Status Renames::make_folders(const Path& folder) {
  std::vector<Path> missing = missing_folders(fs_, folder);
  if (missing.empty()) return {};
  made_.insert(made_.end(), missing.rbegin(), missing.rend());
  return fs_.create_directories(folder);
}

void Renames::keep() {
  done_.clear();
  made_.clear();
}

Status Renames::rename(const Path& from, const Path& to) { return replace(from, to, {}); }

Status Renames::replace(const Path& from, const Path& to, const Path& copy) {
  TFAOT_TRY(fs_.rename(from, to));
  done_.push_back({.from = from, .to = to, .copy = copy});
  return {};
}

Status Renames::exchange(const Path& first, const Path& second) {
  TFAOT_TRY(fs_.exchange(first, second));
  done_.push_back({.from = first, .to = second, .exchanged = true});
  return {};
}

bool Renames::take_back() {
  for (; !done_.empty(); done_.pop_back()) {
    const Done& last = done_.back();
    const Status undone = last.exchanged      ? fs_.exchange(last.from, last.to)
                          : last.copy.empty() ? fs_.rename(last.to, last.from)
                                              : fs_.rename(last.copy, last.to);
    if (!undone) return false;
  }
  return true;
}

}  // namespace tfaot::toolkit
