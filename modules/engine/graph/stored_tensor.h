// SPDX-License-Identifier: Apache-2.0
// A tensor with known type and shape; its values are read on request, because models may be larger
// than is sensible to hold in memory. Used by one thread.
#pragma once

#include <functional>

#include "tensorflow/core/framework/tensor.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit::engine {

struct StoredTensor {
  tensorflow::DataType type = tensorflow::DT_INVALID;
  tensorflow::TensorShape shape;
  // Reads it again in each call; must not outlive the model.
  std::function<Result<tensorflow::Tensor>()> read;
};

// A tensor that is already in memory.
inline StoredTensor stored(tensorflow::Tensor tensor) {
  const auto type = tensor.dtype();
  auto shape = tensor.shape();
  return {type, std::move(shape),
          [tensor = std::move(tensor)]() -> Result<tensorflow::Tensor> { return tensor; }};
}

}  // namespace tfaot::toolkit::engine
