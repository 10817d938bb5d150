// SPDX-License-Identifier: Apache-2.0
// What lies at a path that the user named. Commands that want something else say so: what is there,
// what they take, and which command leads from the one to the other. Looks, changes nothing.
#pragma once

#include <string>

#include "context.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

bool is_package_tree(const FileSystem& files, const Path& path);
bool is_config(const Path& path);  // by its name
// A tar.zst, tar.gz or tar, by its first bytes; whether it is one of ours, its reader says.
bool is_archive(const FileSystem& files, const Path& path);

struct Wanted {
  std::string what;  // "'tfaot install' takes an archive"
  std::string from;  // "'tfaot package' makes one of a package tree"; may be empty
};
Error wrong_input(const FileSystem& files, const Path& path, const Wanted& wanted);

// Usage error, naming the option, when something that is no folder lies at `path` or above it.
Status check_output_folder(const FileSystem& files, const std::string& option, const Path& path);
// The same for a file that is to be written; `path` as the user gave it, empty when not.
Status check_output_file(const Context& context, const std::string& option,
                         const std::string& path);

}  // namespace tfaot::toolkit
