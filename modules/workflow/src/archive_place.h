// SPDX-License-Identifier: Apache-2.0
// Puts a new archive where it belongs, and its hash into the file SHA256SUMS beside it, which
// `sha256sum -c` checks. Both are renamed together: a failure leaves the old ones.
#pragma once

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/package/package_types.h"

namespace tfaot::toolkit {

inline constexpr const char* kSumsName = "SHA256SUMS";

enum class Sums {
  kWritten,  // the file is made if there is none
  kRenewed   // only a line that is there already
};
// `made.archive` is in the folder `work`, which is on the same disk; one process at a time has it.
Status put_archive(FileSystem& files, const Path& work, const Package& made, const Path& place,
                   Sums sums);

// The hash that SHA256SUMS beside the file has for it; empty: none.
Result<std::string> listed_sha256(const FileSystem& files, const Path& file);

}  // namespace tfaot::toolkit
