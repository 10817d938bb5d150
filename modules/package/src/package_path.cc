// SPDX-License-Identifier: Apache-2.0
#include "package_path.h"

#include <algorithm>

namespace tfaot::toolkit {
namespace {

bool is_package_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         std::ranges::all_of(name, [](char c) { return c >= ' ' && c <= '~' && c != '\\'; });
}

}  // namespace

bool is_package_path(std::string_view path) {
  for (;;) {
    const auto slash = path.find('/');
    if (!is_package_name(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace tfaot::toolkit
