// SPDX-License-Identifier: Apache-2.0
// Paths without links. Pure function of the file system.
#pragma once

#include "tfaot/base/file_system.h"

namespace tfaot::toolkit {

// The path without any links; a link in a circle stays as it is. Nothing need exist there.
Result<Path> real_path(const FileSystem& fs, const Path& path);

}  // namespace tfaot::toolkit
