// SPDX-License-Identifier: Apache-2.0
// Builds the RPMs of many models with rpmbuild, several at the same time, and only those that
// changed. The folder of a release is also rpmbuild's _topdir:
//   SPECS/TOOL.spec, SOURCES/tfaot-compile.file, SOURCES/TOOL-VERSION.tar: written by the caller
//   RPMS/TOOL-VERSION-RELEASE.ARCH.rpm: renamed to this path once complete
//   RPMS/TOOL.json: what the RPM was made from
// Only one release may run in a folder at a time: the caller holds a lock.
#pragma once

#include <vector>

#include "tfaot/base/diagnostics.h"
#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/release/release_types.h"

namespace tfaot::toolkit {

struct ReleaseOptions {
  Path directory;              // absolute
  Path work_directory;         // absolute; must exist on the same disk; the caller removes it
  Path tool;                   // the tfaot that compiles
  Path rpmbuild = "rpmbuild";  // looked up in PATH
  unsigned jobs = 1;           // models at the same time
  unsigned compile_jobs = 1;   // engine processes of each
  std::string limits = {};     // of each compilation, "--timeout 600 --memory 8000"
};

// Checks the release's folder and the tool: rpm's own scripts split some paths. Does not touch the
// disk.
Status check_release_paths(const ReleaseOptions& options);

// REQUIRES: check_release_paths(). One result for each job, in their order. If a model cannot be
// built, its last RPM stays as it is and the others are still built. Error: nothing more can be
// built, because rpmbuild does not start or we were interrupted.
Result<std::vector<ReleaseResult>> build_release(FileSystem& fs,
                                                 const std::vector<ReleaseJob>& jobs,
                                                 const ReleaseOptions& options,
                                                 Diagnostics& diagnostics);

}  // namespace tfaot::toolkit
