// SPDX-License-Identifier: Apache-2.0
// The runner without an engine: what a process and a program cost before a model comes in. The
// report subtracts its size, and its memory is a row of its own.
#include <algorithm>

#include "runner.h"

namespace tfaot::benchmark {
namespace {

class NoEngine : public Engine {
 public:
  explicit NoEngine(std::size_t output_size) : output_size_(output_size) {}

  void prepare(std::size_t rows, const float* inputs) override {
    outputs_.assign(rows * output_size_, inputs[0]);
  }
  void run() override { outputs_[0] += 1; }
  const float* outputs() override { return outputs_.data(); }

 private:
  std::size_t output_size_;
  std::vector<float> outputs_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const RunnerOptions& options) {
  return std::make_unique<NoEngine>(options.output_size);
}

}  // namespace tfaot::benchmark
