// SPDX-License-Identifier: Apache-2.0
// Configs -> the jobs of HTCondor that compile and package the models: what `tfaot condor` does.
// Both files are written, or none. Two calls with one output folder wait for each other.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/workflow/context.h"

namespace tfaot::toolkit {

/// What to write.
struct CondorRequest {
  std::vector<std::string> configs;  ///< of the models
  Path output_directory;             ///< absolute; its path goes into the files
  unsigned cpus = 1;                 ///< of each compilation
  std::vector<std::string> lines;    ///< for the submit file
};

/// The DAG's file. Error: a config is wrong, or two of them make the same package.
Result<Path> write_condor_files(Context& context, const CondorRequest& request);

}  // namespace tfaot::toolkit
