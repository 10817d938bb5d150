// SPDX-License-Identifier: Apache-2.0
// What several engine processes report of one model -> one record and one blob of weights. Which
// process made what leaves no trace: codes are ordered by batch size, weights by their first use
// by the codes. Equal weights are kept once. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/compile/compile_types.h"

namespace tfaot {

// A record and the blob its weights lie in.
struct ModelPart {
  CompiledModel model;
  std::string blob;
};

// REQUIRES: at least one part. Fails when the parts disagree about the rows of the outputs.
Result<ModelPart> merge_parts(std::vector<ModelPart> parts);

}  // namespace tfaot
