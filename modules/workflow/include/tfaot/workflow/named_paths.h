// SPDX-License-Identifier: Apache-2.0
// What lies at a path that the user named. A workflow that wants something else says so: what is
// there, what it takes, and which command leads from the one to the other. Looks, changes nothing.
// Safe from many threads.
#pragma once

#include <string>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

bool is_package_tree(const FileSystem& files, const Path& path);
/// By its name.
bool is_config(const Path& path);
/// A tar.zst, tar.gz or tar, by its first bytes; whether it is one of ours, its reader says.
bool is_archive(const FileSystem& files, const Path& path);

/// What a command takes.
struct Wanted {
  std::string what;  ///< "'tfaot install' takes an archive"
  std::string from;  ///< "'tfaot package' makes one of a package tree"; may be empty
};
/// Says what is at `path` instead.
Error wrong_input(const FileSystem& files, const Path& path, const Wanted& wanted);

}  // namespace tfaot::toolkit
