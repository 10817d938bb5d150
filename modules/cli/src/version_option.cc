// SPDX-License-Identifier: Apache-2.0
#include "version_option.h"

#include <algorithm>
#include <string_view>

namespace tfaot {

std::string check_version(const std::string& version) {
  const auto is_allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  const bool fits =
      !version.empty() && is_allowed(version.front()) &&
      std::all_of(version.begin(), version.end(), [&](char c) {
        return is_allowed(c) || std::string_view("._+-").find(c) != std::string_view::npos;
      });
  return fits ? "" : "a letter or digit, then letters, digits, '.', '_', '+' and '-'";
}

}  // namespace tfaot
