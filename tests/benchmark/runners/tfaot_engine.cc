// SPDX-License-Identifier: Apache-2.0
// Our packages through the native API with its defaults. The model is linked in: the build says
// which header (TFAOT_BENCHMARK_HEADER) and class (TFAOT_BENCHMARK_MODEL). One input and one output
// of float32.
#include TFAOT_BENCHMARK_HEADER

#include "runner.h"

namespace tfaot::runner {
namespace {

class LinkedEngine : public Engine {
 public:
  explicit LinkedEngine(const Settings& settings)
      : input_size_(settings.inputs.at(0).row_elements()),
        output_size_(settings.outputs.at(0).row_elements()) {}

  void prepare(std::size_t rows, const std::vector<const void*>& inputs) override {
    rows_ = rows;
    inputs_ = Span<const float>(static_cast<const float*>(inputs[0]), rows * input_size_);
    outputs_.assign(rows * output_size_, 0);
  }
  void run() override { model_.run(rows_, tfaot::inputs(inputs_), tfaot::outputs(outputs_)); }
  std::vector<const void*> outputs() override { return {outputs_.data()}; }

 private:
  native::Model<TFAOT_BENCHMARK_MODEL> model_;
  std::size_t input_size_;
  std::size_t output_size_;
  std::size_t rows_ = 0;
  Span<const float> inputs_;
  std::vector<float> outputs_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const Settings& settings) {
  return std::make_unique<LinkedEngine>(settings);
}

}  // namespace tfaot::runner
