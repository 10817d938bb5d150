// SPDX-License-Identifier: Apache-2.0
// Merges what several engine processes report about one model into one record with one order of
// weights. The result does not depend on which process made what: codes are ordered by batch size,
// weights by their first use in the codes. Equal weights are kept once, whether they come from one
// file or two. Reads weight files only as far as needed to compare them, and holds none in memory.
#pragma once

#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/records/engine_job.h"

namespace tfaot::toolkit {

struct MergedModel {
  CompiledModel model;             // all but the description of the weights' object
  std::vector<Path> weight_files;  // of model.weights
};

// REQUIRES: at least one part. Fails if the parts disagree about the rows of the outputs.
Result<MergedModel> merge_parts(const FileSystem& fs, const Path& weights_directory,
                                const std::vector<EngineResult>& parts);

// The object with the weights of a model. Written and hashed in one pass over the engine's files,
// without holding them in memory. One call per file at a time.

// REQUIRES: merged.model.target_triple. Sets its weights_symbol, `symbol` with a hash of the blob,
// and its weights_object_sha256.
Status write_weights_object(FileSystem& fs, MergedModel& merged, const std::string& symbol,
                            const Path& file);

}  // namespace tfaot::toolkit
