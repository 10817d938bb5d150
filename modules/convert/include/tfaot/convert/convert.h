// SPDX-License-Identifier: Apache-2.0
// An area made by upstream -> the record that generate takes, and objects that share their weights.
// Nothing is compiled. The code stays the same to the byte and keeps its entry's name, so
// upstream's own headers still work with the new objects. Reads and writes only through the given
// FileSystem; no other state.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/convert/convert_types.h"

namespace tfaot::toolkit {

// Every model with a header NAME_bsN.h and an object NAME_bsN.o anywhere below `area`, by name. A
// header without an object, or an object without a header, is an error.
Result<std::vector<UpstreamModel>> find_upstream_models(const FileSystem& files, const Path& area);

struct ConvertOptions {
  Path work_directory;         // objects are written there
  std::string cpu_level = "";  // what they were compiled for; empty: any CPU of their machine
  bool share_weights = true;   // false: every object stays whole
};

// Writes NAME_bsN.o for every batch size. If constants could be taken out of them, also writes
// NAME_weights.o.
Result<ConvertedModel> convert_model(FileSystem& files, const UpstreamModel& model,
                                     const ConvertOptions& options);

}  // namespace tfaot::toolkit
