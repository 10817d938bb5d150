// SPDX-License-Identifier: Apache-2.0
// What runs a model as it is, without tfaot's compiler: predictions that ours are compared with.
// Used by one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "tensorflow/core/framework/tensor.h"
#include "tfaot/base/result.h"
#include "tfaot/records/compiled_model.h"

namespace tfaot::toolkit::engine {

class OriginalProgram {
 public:
  virtual ~OriginalProgram() = default;

  // With its version: "tensorflow 2.18.1".
  virtual std::string name() const = 0;
  virtual const Signature& signature() const = 0;
  // The only number of rows that it runs; 0: any number.
  virtual std::int64_t fixed_rows() const = 0;
  // Inputs and outputs are in the model's order; they have no dimension for rows if shapes are
  // fixed. Error: what the program says, or that it does not end within the limit; 0: none.
  virtual Result<std::vector<tensorflow::Tensor>> run(const std::vector<tensorflow::Tensor>& inputs,
                                                      std::chrono::seconds limit) = 0;
};

}  // namespace tfaot::toolkit::engine
