// SPDX-License-Identifier: Apache-2.0
// A tensor that is known by type and shape, and read when its values are asked for: models may be
// larger than what is worth holding in memory. Used by one thread.
#pragma once

#include <functional>

#include "tensorflow/core/framework/tensor.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

struct StoredTensor {
  tensorflow::DataType type = tensorflow::DT_INVALID;
  tensorflow::TensorShape shape;
  // Reads it anew in each call; lives no longer than the model.
  std::function<Result<tensorflow::Tensor>()> read;
};

// One that is in memory already.
inline StoredTensor stored(tensorflow::Tensor tensor) {
  const auto type = tensor.dtype();
  auto shape = tensor.shape();
  return {type, std::move(shape),
          [tensor = std::move(tensor)]() -> Result<tensorflow::Tensor> { return tensor; }};
}

}  // namespace tfaot::toolkit::engine
