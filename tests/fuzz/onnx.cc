// SPDX-License-Identifier: Apache-2.0
// ONNX files, with the tensors in them.
#include "tests/fuzz/engine.h"
#include "tests/fuzz/fuzz.h"

namespace tfaot::toolkit {

void fuzz(const std::string& bytes) {
  JobModel job;
  job.format = ModelFormat::kOnnx;
  read_model(bytes, job, "model.onnx");
}

}  // namespace tfaot::toolkit
