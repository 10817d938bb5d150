// SPDX-License-Identifier: Apache-2.0
// LiteRT (once TensorFlow Lite) through its C interface: the CPU accelerator, which is XNNPACK,
// with its default of one thread. Inputs and outputs are in place.
#include <cstdint>
#include <stdexcept>

#include "runner.h"
#include "shared_library.h"

namespace tfaot::runner {
namespace {

using Handle = void*;
using LiteStatus = int;  // 0 when all is well

constexpr int kCpu = 1;
constexpr std::size_t kMaxRank = 8;

// LiteRtRankedTensorType: an element type and a layout, 72 bytes.
struct TensorType {
  std::int32_t element_type;
  std::uint32_t rank : 7;
  std::uint32_t has_strides : 1;
  std::int32_t dimensions[kMaxRank];
  std::uint32_t strides[kMaxRank];
};
static_assert(sizeof(TensorType) == 72);

constexpr TypeCode kLiteTypes[] = {
    {DType::kBool, 6},    {DType::kInt8, 9},     {DType::kInt16, 7},     {DType::kInt32, 2},
    {DType::kInt64, 4},   {DType::kUint8, 3},    {DType::kUint16, 17},   {DType::kUint32, 16},
    {DType::kUint64, 13}, {DType::kFloat16, 10}, {DType::kBfloat16, 19}, {DType::kFloat32, 1},
    {DType::kFloat64, 11}};

std::vector<int> batch_shape(const Tensor& tensor, std::size_t rows) {
  std::vector<int> shape;
  for (const std::int64_t size : tensor.shape(rows)) shape.push_back(static_cast<int>(size));
  if (shape.size() > kMaxRank) throw std::runtime_error("LiteRT takes eight dimensions at most");
  return shape;
}

class LiteRtEngine : public Engine {
 public:
  explicit LiteRtEngine(const Settings& settings)
      : inputs_of_(settings.inputs),
        outputs_of_(settings.outputs),
        library_(settings.get("library")) {
    const std::string file = settings.get("model");
    Handle environment = nullptr;
    Handle model = nullptr;
    Handle compile_options = nullptr;
    call("LiteRtCreateEnvironment", 0, static_cast<const void*>(nullptr), &environment);
    call("LiteRtCreateModelFromFile", environment, file.c_str(), &model);
    call("LiteRtGetModelSignature", model, std::size_t{0}, &signature_);
    input_places_ = places_of(
        inputs_of_, names("LiteRtGetNumSignatureInputs", "LiteRtGetSignatureInputName"), "inputs");
    output_places_ =
        places_of(outputs_of_,
                  names("LiteRtGetNumSignatureOutputs", "LiteRtGetSignatureOutputName"), "outputs");
    call("LiteRtCreateOptions", &compile_options);
    call("LiteRtSetOptionsHardwareAccelerators", compile_options, kCpu);
    call("LiteRtCreateCompiledModel", environment, model, compile_options, &model_);
    run_ = library_.find<Run>("LiteRtRunCompiledModel");
  }

  void prepare(std::size_t rows, const std::vector<const void*>& inputs) override {
    inputs_.clear();
    outputs_.clear();
    results_.allocate(outputs_of_, rows);
    for (std::size_t i = 0; i < input_places_.size(); ++i) {
      const Tensor& tensor = inputs_of_[input_places_[i]];
      const std::vector<int> shape = batch_shape(tensor, rows);
      call("LiteRtCompiledModelResizeInputTensor", model_, std::size_t{0}, i,
           static_cast<const int*>(shape.data()), shape.size());
      inputs_.push_back(buffer(tensor, rows, const_cast<void*>(inputs[input_places_[i]])));
    }
    for (const std::size_t place : output_places_) {
      outputs_.push_back(buffer(outputs_of_[place], rows, results_.pointers()[place]));
    }
  }

  void run() override {
    const LiteStatus status =
        run_(model_, 0, inputs_.size(), inputs_.data(), outputs_.size(), outputs_.data());
    if (status != 0) fail("LiteRtRunCompiledModel", status);
  }

  std::vector<const void*> outputs() override { return results_.contents(); }

 private:
  using Run = LiteStatus(Handle model, std::size_t signature, std::size_t input_count,
                         Handle* inputs, std::size_t output_count, Handle* outputs);

  [[noreturn]] static void fail(const char* function, LiteStatus status) {
    throw std::runtime_error(std::string(function) + " ended with status " +
                             std::to_string(status));
  }

  template <class... Arguments>
  void call(const char* function, Arguments... arguments) {
    const LiteStatus status = library_.find<LiteStatus(Arguments...)>(function)(arguments...);
    if (status != 0) fail(function, status);
  }

  std::vector<std::string> names(const char* count_function, const char* name_function) {
    std::size_t count = 0;
    call(count_function, signature_, &count);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) {
      const char* name = nullptr;
      call(name_function, signature_, i, &name);
      names.emplace_back(name);
    }
    return names;
  }

  Handle buffer(const Tensor& tensor, std::size_t rows, void* memory) {
    const std::vector<int> shape = batch_shape(tensor, rows);
    TensorType type{};
    type.element_type = code_of(kLiteTypes, tensor.type);
    type.rank = static_cast<unsigned>(shape.size()) & 0x7FU;
    for (std::size_t i = 0; i < shape.size(); ++i) type.dimensions[i] = shape[i];
    Handle made = nullptr;
    call("LiteRtCreateTensorBufferFromHostMemory", static_cast<const TensorType*>(&type), memory,
         rows * tensor.row_bytes(), static_cast<void (*)(void*)>(nullptr), &made);
    return made;
  }

  std::vector<Tensor> inputs_of_;
  std::vector<Tensor> outputs_of_;
  SharedLibrary library_;
  Handle signature_ = nullptr;
  Handle model_ = nullptr;
  Run* run_ = nullptr;
  std::vector<std::size_t> input_places_;
  std::vector<std::size_t> output_places_;
  std::vector<Handle> inputs_;
  std::vector<Handle> outputs_;
  OutputMemory results_;
};

}  // namespace

std::unique_ptr<Engine> make_litert_engine(const Settings& settings) {
  return std::make_unique<LiteRtEngine>(settings);
}

}  // namespace tfaot::runner
