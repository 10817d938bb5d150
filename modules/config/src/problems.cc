// SPDX-License-Identifier: Apache-2.0
#include "problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace tfaot::toolkit::config {
namespace {

constexpr std::size_t kMaxListed = 10;

// Like text(), without the notes.
std::string headline(const Error& error) {
  const Location& where = error.where();
  if (where.file.empty()) return error.message();
  return fmt::format("{}:{}:{}: {}", where.file, where.line, where.column, error.message());
}

}  // namespace

Location location_of(const std::string& file, const YAML::Mark& mark) {
  if (mark.is_null()) return {.file = file};
  return {.file = file, .line = mark.line + 1, .column = mark.column + 1};
}

Error& Problems::add(const YAML::Mark& mark, std::string message) {
  found_.push_back(mark.is_null() ? Error::usage(std::move(message))
                                  : Error::at(location_of(file_, mark), std::move(message)));
  return found_.back();
}

Error Problems::to_error() const {
  std::vector<Error> sorted(found_.begin(), found_.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const Error& a, const Error& b) {
    return std::tie(a.where().line, a.where().column) < std::tie(b.where().line, b.where().column);
  });
  Error first = sorted.front();
  const std::size_t listed = std::min(sorted.size(), kMaxListed);
  for (std::size_t i = 1; i < listed; ++i) {
    first.note("also " + headline(sorted[i]));
    for (const std::string& note : sorted[i].notes()) first.note("  " + note);
  }
  if (sorted.size() > listed) {
    first.note(fmt::format("and {} more", sorted.size() - listed));
  }
  return first;
}

}  // namespace tfaot::toolkit::config
