// SPDX-License-Identifier: Apache-2.0
// The runner without an engine: what a process and a program cost before a model comes in. Reports
// subtract its memory. Its outputs are the first bytes of its inputs: a test of the program sees
// which rows an engine gets.
#include <algorithm>
#include <cstring>

#include "runner.h"

namespace tfaot::runner {
namespace {

class NoEngine : public Engine {
 public:
  explicit NoEngine(const Settings& settings)
      : inputs_of_(settings.inputs), outputs_of_(settings.outputs) {}

  void prepare(std::size_t rows, const std::vector<const void*>& inputs) override {
    memory_.allocate(outputs_of_, rows);
    inputs_ = inputs;
    rows_ = rows;
  }
  void run() override { runs_ = runs_ + 1; }
  std::vector<const void*> outputs() override {
    for (std::size_t i = 0; i < std::min(inputs_of_.size(), outputs_of_.size()); ++i) {
      std::memcpy(memory_.pointers()[i], inputs_[i],
                  rows_ * std::min(inputs_of_[i].row_bytes(), outputs_of_[i].row_bytes()));
    }
    return memory_.contents();
  }

 private:
  std::vector<Tensor> inputs_of_;
  std::vector<Tensor> outputs_of_;
  std::vector<const void*> inputs_;
  std::size_t rows_ = 0;
  OutputMemory memory_;
  volatile int runs_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_no_engine(const Settings& settings) {
  return std::make_unique<NoEngine>(settings);
}

}  // namespace tfaot::runner
