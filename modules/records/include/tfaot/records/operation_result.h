// SPDX-License-Identifier: Apache-2.0
// Code that returns the results of its operations too, made for `tfaot validate --bits --model`
// alone. A plain value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tfaot::toolkit {

// An output after those of the model, in the order in which they are computed.
struct OperationResult {
  std::string kind;    // the kernel without its level, "tfaot_gemm_f32", or the operation, "add"
  std::string origin;  // the model's own name of it, "tagger/dense/MatMul"; empty: unknown
  std::vector<std::int64_t> shape;  // with the batch, wherever it is
};

}  // namespace tfaot::toolkit
