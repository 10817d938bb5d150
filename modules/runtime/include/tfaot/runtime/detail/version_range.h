// SPDX-License-Identifier: Apache-2.0
// Ranges of versions, such as ">=1.2 <2": conditions separated by blanks or commas, all of which
// must hold. Numbers with dots compare number by number, and 1.2 equals 1.2.0; other versions
// compare as `ls -v` sorts them. Pure functions.
#pragma once

#include <string.h>  // strverscmp, which <cstring> does not promise

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace detail {

inline bool is_number(std::string_view text) noexcept {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Takes the part before the next dot off the front.
inline std::string_view take_part(std::string_view& version) noexcept {
  const std::size_t end = std::min(version.find('.'), version.size());
  const std::string_view part = version.substr(0, end);
  version.remove_prefix(std::min(version.size(), end + 1));
  return part;
}

inline bool is_dotted(std::string_view version) noexcept {
  if (version.empty() || version.back() == '.') return false;
  while (!version.empty()) {
    if (!is_number(take_part(version))) return false;
  }
  return true;
}

// Of any length.
inline int compare_numbers(std::string_view a, std::string_view b) noexcept {
  a.remove_prefix(std::min(a.find_first_not_of('0'), a.size()));
  b.remove_prefix(std::min(b.find_first_not_of('0'), b.size()));
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return a.compare(b);
}

// Negative, 0 or positive, as `a` is before, equal to or after `b`.
inline int compare_versions(std::string_view a, std::string_view b) {
  if (!is_dotted(a) || !is_dotted(b)) {
    return ::strverscmp(std::string(a).c_str(), std::string(b).c_str());
  }
  int order = 0;
  while (order == 0 && !(a.empty() && b.empty())) {
    const std::string_view first = take_part(a);
    order = compare_numbers(first, take_part(b));
  }
  return order;
}

class VersionRange {
 public:
  // Empty: any version. False: the text is not a range; `wrong` gets the word that is not.
  static bool parse(std::string_view text, VersionRange& range, std::string& wrong) {
    range.conditions_.clear();
    while (true) {
      text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
      if (text.empty()) return true;
      const std::string_view word = text.substr(0, text.find_first_of(" ,"));
      text.remove_prefix(word.size());
      if (!range.add(word)) {
        wrong = word;
        return false;
      }
    }
  }

  bool contains(std::string_view version) const {
    return std::all_of(conditions_.begin(), conditions_.end(), [&](const Condition& condition) {
      return condition.holds(compare_versions(version, condition.version));
    });
  }

 private:
  struct Condition {
    bool less, equal, greater;  // which orders of the version and this one are fine
    std::string version;

    bool holds(int order) const noexcept { return order < 0 ? less : order == 0 ? equal : greater; }
  };

  bool add(std::string_view word) {
    struct Operator {
      std::string_view word;
      bool less, equal, greater;
    };
    // Longer ones first; the last one is a plain version.
    constexpr Operator kOperators[] = {{">=", false, true, true},  {"<=", true, true, false},
                                       {"==", false, true, false}, {"!=", true, false, true},
                                       {">", false, false, true},  {"<", true, false, false},
                                       {"=", false, true, false},  {"", false, true, false}};
    for (const Operator& found : kOperators) {
      if (word.substr(0, found.word.size()) != found.word) continue;
      const std::string_view version = word.substr(found.word.size());
      const bool is_name =
          !version.empty() && version.find_first_not_of(
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnop"
                                  "qrstuvwxyz0123456789._+-") == std::string_view::npos;
      if (is_name) {
        conditions_.push_back({found.less, found.equal, found.greater, std::string(version)});
      }
      return is_name;
    }
    return false;
  }

  std::vector<Condition> conditions_;
};

// The position of the newest of these versions in the range; their number if there is none.
inline std::size_t newest_in(const VersionRange& range, const std::vector<std::string>& versions) {
  std::size_t newest = versions.size();
  for (std::size_t i = 0; i < versions.size(); ++i) {
    if (!range.contains(versions[i])) continue;
    if (newest == versions.size() || compare_versions(versions[newest], versions[i]) < 0) {
      newest = i;
    }
  }
  return newest;
}

}  // namespace detail
}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
