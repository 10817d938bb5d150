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
  Path work;  // made here; all that rpmbuild writes goes below it
};

struct RpmBuilt {
  Path rpm;                    // below the work folder
  std::optional<Error> error;  // what the model's compilation, or rpmbuild, says
};

// Error: rpmbuild could not be started, or was interrupted with us.
Result<RpmBuilt> build_rpm(FileSystem& fs, const RpmBuild& build, const ReleaseOptions& options);

// What is to be said of a failed run: the tool's own error when there is one, else the last lines
// that are no commands of the shell.
Error build_error(const std::string& tool_name, const std::string& output);

}  // namespace tfaot::toolkit
