// SPDX-License-Identifier: Apache-2.0
// Builds the RPMs of many models by rpmbuild, several at the same time, and of these only what
// changed. In the folder of a release, which is rpmbuild's _topdir as well:
//   SPECS/TOOL.spec, SOURCES/tfaot-compile.file, SOURCES/TOOL-VERSION.tar: the caller wrote them
//   RPMS/TOOL-VERSION-RELEASE.ARCH.rpm: renamed to there when whole
//   RPMS/TOOL.json: what the RPM was made from
// One release in a folder at a time: the caller holds a lock.
#pragma once

#include <vector>

#include "tfaot/base/diagnostics.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/release/release_types.h"

namespace tfaot::toolkit {

struct ReleaseOptions {
  Path directory;              // absolute
  Path work_directory;         // absolute; must exist on the same disk, is the caller's to remove
  Path tool;                   // the tfaot that compiles
  Path rpmbuild = "rpmbuild";  // looked up in PATH
  unsigned jobs = 1;           // models at the same time
  unsigned compile_jobs = 1;   // engine processes of each
};

// Of the release's folder and the tool: rpm's own scripts take some apart. Touches no disk.
Status check_release_paths(const ReleaseOptions& options);

// REQUIRES: check_release_paths(). One result for each job, in their order. A model that cannot be
// built leaves its last RPM as it is and does not keep others from being built. Error: nothing more
// can be built, as rpmbuild does not start or we were interrupted.
Result<std::vector<ReleaseResult>> build_release(FileSystem& fs,
                                                 const std::vector<ReleaseJob>& jobs,
                                                 const ReleaseOptions& options,
                                                 Diagnostics& diagnostics);

}  // namespace tfaot::toolkit
