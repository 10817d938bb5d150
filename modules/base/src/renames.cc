// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/renames.h"

#include <algorithm>

#include "tfaot/base/interrupts.h"

namespace tfaot::toolkit {

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
