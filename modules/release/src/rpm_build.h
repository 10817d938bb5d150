// SPDX-License-Identifier: Apache-2.0
// One run of rpmbuild. Safe from many threads for different work folders.
#pragma once

#include <optional>

#include "tfaot/base/file_system.h"
#include "tfaot/release/release.h"

namespace tfaot::toolkit {

struct RpmBuild {
  std::string tool_name;
  std::string version;  // of the model
  std::string processor;
  unsigned release = 1;
  Path work;  // created here; rpmbuild writes only below it
};

struct RpmBuilt {
  Path rpm;                    // below the work folder
  std::optional<Error> error;  // from the model's compilation, or from rpmbuild
};

// Error: rpmbuild could not be started, or was interrupted with us.
Result<RpmBuilt> build_rpm(FileSystem& fs, const RpmBuild& build, const ReleaseOptions& options);

// The message for a failed run: the tool's own error if there is one, else the last lines that are
// not commands of the shell.
Error build_error(const std::string& tool_name, const std::string& output);

}  // namespace tfaot::toolkit
