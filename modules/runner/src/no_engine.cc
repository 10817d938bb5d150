// SPDX-License-Identifier: Apache-2.0
// The runner without an engine: what a process and a program cost before a model comes in. Reports
// subtract its memory.
#include "runner.h"

namespace tfaot::runner {
namespace {

class NoEngine : public Engine {
 public:
  explicit NoEngine(const Settings& settings) : outputs_of_(settings.outputs) {}

  void prepare(std::size_t rows, const std::vector<const void*>&) override {
    memory_.allocate(outputs_of_, rows);
  }
  void run() override { runs_ = runs_ + 1; }
  std::vector<const void*> outputs() override { return memory_.contents(); }

 private:
  std::vector<Tensor> outputs_of_;
  OutputMemory memory_;
  volatile int runs_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_no_engine(const Settings& settings) {
  return std::make_unique<NoEngine>(settings);
}

}  // namespace tfaot::runner
