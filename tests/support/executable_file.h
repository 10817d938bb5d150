// SPDX-License-Identifier: Apache-2.0
// Scripts that tests start instead of a compiler, an engine or rpmbuild.
#pragma once

#include <filesystem>

namespace tfaot::toolkit::testing {

// Makes the file executable for everyone who can read it. Throws if it is missing.
inline void make_executable(const std::filesystem::path& file) {
  using std::filesystem::perms;
  perms added = perms::owner_exec;
  const perms now = std::filesystem::status(file).permissions();
  if ((now & perms::group_read) != perms::none) added |= perms::group_exec;
  if ((now & perms::others_read) != perms::none) added |= perms::others_exec;
  std::filesystem::permissions(file, added, std::filesystem::perm_options::add);
}

}  // namespace tfaot::toolkit::testing
