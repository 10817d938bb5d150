// SPDX-License-Identifier: Apache-2.0
// An input or output of a model, in any format.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tensorflow/core/framework/types.pb.h"

namespace tfaot::toolkit::engine {

struct ModelTensor {
  std::string name;    // key in the signature, or the tensor's name in other formats
  std::string tensor;  // "node:index" in a TensorFlow graph
  tensorflow::DataType type = tensorflow::DT_INVALID;
  bool rank_known = false;
  std::vector<std::int64_t> shape;           // -1: unknown
  std::vector<std::string> dimensions = {};  // names of sizes that the model leaves open, or ""
};

}  // namespace tfaot::toolkit::engine
