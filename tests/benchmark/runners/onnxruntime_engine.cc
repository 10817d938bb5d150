// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime through its C interface, one thread, inputs and outputs in place. The interface is a
// table of functions whose order never changes (entries are only appended), and version 1 of it
// holds all we need.
#include <cstdint>

#include "runner.h"
#include "shared_library.h"

namespace tfaot::benchmark {
namespace {

using Handle = void*;  // every object of the interface is opaque
using Status = void*;  // null when all is well

struct ApiBase {
  const void* const* (*get_api)(std::uint32_t version);
  const char* (*version)();
};

// Places in the table.
enum Entry : std::size_t {
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSession = 7,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetGraphOptimizationLevel = 23,
  kSetIntraOpNumThreads = 24,
  kSetInterOpNumThreads = 25,
  kCreateTensorWithData = 49,
  kCreateCpuMemoryInfo = 69,
};
constexpr std::uint32_t kTableVersion = 1;
constexpr int kWarning = 2;
constexpr int kAllOptimizations = 99;
constexpr int kDeviceAllocator = 0;
constexpr int kDefaultMemory = 0;
constexpr int kFloat = 1;

class OnnxRuntimeEngine : public Engine {
 public:
  explicit OnnxRuntimeEngine(const RunnerOptions& options) : options_(options) {
    const SharedLibrary library(options.library);
    const ApiBase* const base = library.find<const ApiBase*()>("OrtGetApiBase")();
    table_ = base->get_api(kTableVersion);
    if (table_ == nullptr) throw std::runtime_error("the library offers no table of version 1");
    Handle environment = nullptr;
    Handle session_options = nullptr;
    call(kCreateEnv, kWarning, "bench", &environment);
    call(kCreateSessionOptions, &session_options);
    call(kSetIntraOpNumThreads, session_options, 1);
    call(kSetInterOpNumThreads, session_options, 1);
    call(kSetGraphOptimizationLevel, session_options, kAllOptimizations);
    call(kCreateSession, environment, options.model.c_str(), session_options, &session_);
    call(kCreateCpuMemoryInfo, kDeviceAllocator, kDefaultMemory, &memory_);
    run_ = reinterpret_cast<Run>(table_[kRun]);
  }

  void prepare(std::size_t rows, const float* inputs) override {
    std::vector<std::int64_t> shape = {static_cast<std::int64_t>(rows)};
    for (const std::size_t size : options_.input_shape) {
      shape.push_back(static_cast<std::int64_t>(size));
    }
    std::size_t elements = 1;
    for (const std::int64_t size : shape) elements *= static_cast<std::size_t>(size);
    outputs_.assign(rows * options_.output_size, 0);
    // The few bytes of the tensors before are not released: a process sees a dozen batch sizes.
    input_ = tensor(const_cast<float*>(inputs), elements, shape);
    output_ = tensor(outputs_.data(), outputs_.size(),
                     {shape[0], static_cast<std::int64_t>(options_.output_size)});
  }

  void run() override {
    const Status status =
        run_(session_, nullptr, &kInputName, &input_, 1, &kOutputName, 1, &output_);
    if (status != nullptr) fail(status);
  }

  const float* outputs() override { return outputs_.data(); }

 private:
  using Run = Status (*)(Handle session, Handle run_options, const char* const* input_names,
                         const Handle* inputs, std::size_t input_count,
                         const char* const* output_names, std::size_t output_count,
                         Handle* outputs);

  static constexpr const char* kInputName = "x";
  static constexpr const char* kOutputName = "y";

  template <class... Arguments>
  void call(Entry entry, Arguments... arguments) {
    const Status status = reinterpret_cast<Status (*)(Arguments...)>(table_[entry])(arguments...);
    if (status != nullptr) fail(status);
  }

  [[noreturn]] void fail(Status status) {
    throw std::runtime_error(
        reinterpret_cast<const char* (*)(Status)>(table_[kGetErrorMessage])(status));
  }

  Handle tensor(float* data, std::size_t elements, const std::vector<std::int64_t>& shape) {
    Handle value = nullptr;
    call(kCreateTensorWithData, memory_, static_cast<void*>(data), elements * sizeof(float),
         shape.data(), shape.size(), kFloat, &value);
    return value;
  }

  RunnerOptions options_;
  const void* const* table_ = nullptr;
  Run run_ = nullptr;
  Handle session_ = nullptr;
  Handle memory_ = nullptr;
  Handle input_ = nullptr;
  Handle output_ = nullptr;
  std::vector<float> outputs_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const RunnerOptions& options) {
  return std::make_unique<OnnxRuntimeEngine>(options);
}

}  // namespace tfaot::benchmark
