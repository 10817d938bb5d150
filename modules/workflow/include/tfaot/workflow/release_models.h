// SPDX-License-Identifier: Apache-2.0
// Configs -> RPMs of the models that changed: what `tfaot release` does. If one model fails, the
// others are still built, and its last RPM stays. Two calls with one output folder wait for each
// other.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/release/release_types.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// What to build.
struct ReleaseRequest {
  std::vector<std::string> configs;  ///< of the models; with a source, their paths in the archive
  Path output_directory;             ///< absolute; rpmbuild's SPECS, SOURCES and RPMS go there
  Path source;                       ///< absolute: a tar that holds all configs and models
  std::string license = "unspecified";
  std::string scram_arch{};  ///< folder below config/toolbox for the tool files; empty: none
  unsigned jobs = 0;         ///< processes at the same time; 0: one per core
};

/// One result for each config; models that were built or are up to date come first. Error: nothing
/// can be built, because rpmbuild does not start, rpm cannot handle a path, or we were interrupted.
Result<std::vector<ReleaseResult>> release_models(Context& context, const ReleaseRequest& request);

}  // namespace tfaot::toolkit
