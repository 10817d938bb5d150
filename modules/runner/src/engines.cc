// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "runner.h"

namespace tfaot::runner {
namespace {

// What a process and a program cost before a model comes in. Reports subtract its memory.
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

std::unique_ptr<Engine> make_engine(const Settings& settings) {
  const std::string engine = settings.get("engine");
  if (engine == "none") return std::make_unique<NoEngine>(settings);
  if (engine == "package") return make_package_engine(settings);
  if (engine == "onnxruntime") return make_onnxruntime_engine(settings);
  if (engine == "litert") return make_litert_engine(settings);
  throw std::runtime_error("no such engine: '" + engine + "'");
}

}  // namespace tfaot::runner
