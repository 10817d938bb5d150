// SPDX-License-Identifier: Apache-2.0
// What several engine processes report of one model -> one record and one order of the weights.
// Which process made what leaves no trace: codes are ordered by batch size, weights by their first
// use by the codes. Equal weights are kept once. Reads files of weights no more than it must to
// tell equal ones; holds none in memory.
#pragma once

#include <vector>

#include "tfaot/base/file_system.h"
#include "tfaot/base/result.h"
#include "tfaot/compile/compile_types.h"

namespace tfaot {

// A record and the file its weights lie in.
struct ModelPart {
  CompiledModel model;
  Path weights_file;
};

// The bytes of one weight.
struct WeightBytes {
  Path file;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

struct MergedModel {
  CompiledModel model;               // without weights_sha256
  std::vector<WeightBytes> weights;  // in the order of model.weights
};

// REQUIRES: at least one part. Fails when the parts disagree about the rows of the outputs.
Result<MergedModel> merge_parts(const FileSystem& fs, std::vector<ModelPart> parts);

}  // namespace tfaot
