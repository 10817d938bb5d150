// SPDX-License-Identifier: Apache-2.0
// The jobs of HTCondor that compile and package many models: a DAG, and the submit file that all of
// its nodes share. Pure functions.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct CondorModel {
  std::string tool_name;  // "tfaot-model-tagger": no two models have the same
  Path config;            // absolute, as all paths here
};

struct CondorPlan {
  Path folder;        // of both files, and of log/, trees/TOOL and dist/
  Path tool;          // tfaot
  unsigned cpus = 1;  // of each compilation
  std::map<std::string, std::string> environment;  // of all jobs
  std::vector<std::string> lines;                  // added to the submit file, after ours
  std::vector<CondorModel> models;
};

struct CondorTexts {
  std::string submit;  // job.sub
  std::string dag;     // models.dag
};

// Error: a path or a line that HTCondor cannot take.
Result<CondorTexts> condor_texts(const CondorPlan& plan);

}  // namespace tfaot::toolkit
