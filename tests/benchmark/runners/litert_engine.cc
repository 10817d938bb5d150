// SPDX-License-Identifier: Apache-2.0
// LiteRT (once TensorFlow Lite) through its C interface: the CPU accelerator, which is XNNPACK,
// with its default of one thread. Inputs and outputs are in place.
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "runner.h"
#include "shared_library.h"

namespace tfaot::benchmark {
namespace {

using Handle = void*;
using Status = int;  // 0 when all is well

constexpr int kFloat32 = 1;
constexpr int kCpu = 1;
constexpr std::size_t kMaxRank = 8;
constexpr std::size_t kAlignment = 64;  // what host memory of a tensor buffer must have

// LiteRtRankedTensorType: an element type and a layout, 72 bytes.
struct TensorType {
  std::int32_t element_type;
  std::uint32_t rank : 7;
  std::uint32_t has_strides : 1;
  std::int32_t dimensions[kMaxRank];
  std::uint32_t strides[kMaxRank];
};
static_assert(sizeof(TensorType) == 72);

TensorType type_of(const std::vector<std::size_t>& shape) {
  TensorType type{};
  type.element_type = kFloat32;
  type.rank = static_cast<unsigned>(shape.size()) & 0x7FU;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    type.dimensions[i] = static_cast<std::int32_t>(shape[i]);
  }
  return type;
}

struct Free {
  void operator()(float* memory) const { std::free(memory); }
};

class LiteRtEngine : public Engine {
 public:
  explicit LiteRtEngine(const RunnerOptions& options)
      : options_(options), library_(options.library) {
    Handle environment = nullptr;
    Handle model = nullptr;
    Handle compile_options = nullptr;
    call("LiteRtCreateEnvironment", 0, static_cast<const void*>(nullptr), &environment);
    call("LiteRtCreateModelFromFile", environment, options.model.c_str(), &model);
    call("LiteRtCreateOptions", &compile_options);
    call("LiteRtSetOptionsHardwareAccelerators", compile_options, kCpu);
    call("LiteRtCreateCompiledModel", environment, model, compile_options, &model_);
    run_ = library_.find<Run>("LiteRtRunCompiledModel");
  }

  void prepare(std::size_t rows, const float* inputs) override {
    std::vector<std::size_t> shape = {rows};
    shape.insert(shape.end(), options_.input_shape.begin(), options_.input_shape.end());
    std::vector<int> dimensions(shape.begin(), shape.end());
    call("LiteRtCompiledModelResizeInputTensor", model_, std::size_t{0}, std::size_t{0},
         static_cast<const int*>(dimensions.data()), dimensions.size());
    std::size_t elements = 1;
    for (const std::size_t size : shape) elements *= size;
    input_ = buffer(shape, const_cast<float*>(inputs), elements * sizeof(float));
    const std::size_t bytes = rows * options_.output_size * sizeof(float);
    outputs_.reset(static_cast<float*>(
        std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment)));
    output_ = buffer({rows, options_.output_size}, outputs_.get(), bytes);
  }

  void run() override {
    const Status status = run_(model_, 0, 1, &input_, 1, &output_);
    if (status != 0) fail("LiteRtRunCompiledModel", status);
  }

  const float* outputs() override { return outputs_.get(); }

 private:
  using Run = Status(Handle model, std::size_t signature, std::size_t input_count, Handle* inputs,
                     std::size_t output_count, Handle* outputs);

  [[noreturn]] static void fail(const char* function, Status status) {
    throw std::runtime_error(std::string(function) + " ended with status " +
                             std::to_string(status));
  }

  template <class... Arguments>
  void call(const char* function, Arguments... arguments) {
    const Status status = library_.find<Status(Arguments...)>(function)(arguments...);
    if (status != 0) fail(function, status);
  }

  Handle buffer(const std::vector<std::size_t>& shape, void* memory, std::size_t bytes) {
    const TensorType type = type_of(shape);
    Handle made = nullptr;
    call("LiteRtCreateTensorBufferFromHostMemory", &type, memory, bytes,
         static_cast<void (*)(void*)>(nullptr), &made);
    return made;
  }

  RunnerOptions options_;
  SharedLibrary library_;
  Handle model_ = nullptr;
  Run* run_ = nullptr;
  Handle input_ = nullptr;
  Handle output_ = nullptr;
  std::unique_ptr<float, Free> outputs_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const RunnerOptions& options) {
  return std::make_unique<LiteRtEngine>(options);
}

}  // namespace tfaot::benchmark
