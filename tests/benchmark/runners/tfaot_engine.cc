// SPDX-License-Identifier: Apache-2.0
// Our packages through the native API with its defaults. The model is linked in: the build says
// which header (TFAOT_BENCHMARK_HEADER) and class (TFAOT_BENCHMARK_MODEL).
#include TFAOT_BENCHMARK_HEADER

#include "runner.h"

namespace tfaot::benchmark {
namespace {

class PackageEngine : public Engine {
 public:
  explicit PackageEngine(const RunnerOptions& options) : output_size_(options.output_size) {
    for (const std::size_t size : options.input_shape) input_size_ *= size;
  }

  void prepare(std::size_t rows, const float* inputs) override {
    rows_ = rows;
    inputs_ = Span<const float>(inputs, rows * input_size_);
    outputs_.assign(rows * output_size_, 0);
  }
  void run() override { model_.run(rows_, tfaot::inputs(inputs_), tfaot::outputs(outputs_)); }
  const float* outputs() override { return outputs_.data(); }

 private:
  native::Model<TFAOT_BENCHMARK_MODEL> model_;
  std::size_t input_size_ = 1;
  std::size_t output_size_;
  std::size_t rows_ = 0;
  Span<const float> inputs_;
  std::vector<float> outputs_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const RunnerOptions& options) {
  return std::make_unique<PackageEngine>(options);
}

}  // namespace tfaot::benchmark
