// SPDX-License-Identifier: Apache-2.0
// The object with the weights of a model. Written and hashed in one pass over the engine's files,
// without holding them in memory. One call per file at a time.
#pragma once

#include "merge.h"

namespace tfaot::toolkit {

// REQUIRES: merged.model.target_triple. Sets its weights_symbol, `symbol` with a hash of the blob,
// and its weights_object_sha256.
Status write_weights_object(FileSystem& fs, MergedModel& merged, const std::string& symbol,
                            const Path& file);

}  // namespace tfaot::toolkit
