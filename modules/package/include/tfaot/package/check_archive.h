// SPDX-License-Identifier: Apache-2.0
// Whether an archive is whole: for those who need nothing that it holds. One call at a time.
#pragma once

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot {

// All that extract_archive() (package.h) checks, to the archive's end; writes nothing.
Status check_archive(const FileSystem& fs, const Path& archive);

}  // namespace tfaot
