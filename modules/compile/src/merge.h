// SPDX-License-Identifier: Apache-2.0
// What several engine processes report of one model -> one record and one order of the weights.
// Which process made what leaves no trace: codes are ordered by batch size, weights by their first
// use by the codes. Equal weights are kept once, in one file or two. Reads files of weights no more
// than it must to tell equal ones; holds none in memory.
#pragma once

#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit {

struct MergedModel {
  CompiledModel model;             // but for what describes the weights' object
  std::vector<Path> weight_files;  // of model.weights
};

// REQUIRES: at least one part. Fails when the parts disagree about the rows of the outputs.
Result<MergedModel> merge_parts(const FileSystem& fs, const Path& weights_directory,
                                const std::vector<EngineResult>& parts);

}  // namespace tfaot::toolkit
