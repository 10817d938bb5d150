// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime through its C interface, one thread, inputs and outputs in place. Outputs are copied
// if the model declares wrong sizes for them, as converters of trees do. The interface is a table
// of functions whose order never changes (entries are only appended), and version 1 of it holds all
// we need.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "runner.h"
#include "shared_library.h"

namespace tfaot::runner {
namespace {

using Handle = void*;     // every object of the interface is opaque
using OrtStatus = void*;  // null when all is well

struct ApiBase {
  void* const* (*get_api)(std::uint32_t version);
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
  kGetInputCount = 30,
  kGetOutputCount = 31,
  kGetInputTypeInfo = 33,
  kGetInputName = 36,
  kGetOutputName = 37,
  kCreateTensorWithData = 49,
  kGetTensorData = 51,
  kCastToTensorInfo = 55,
  kGetElementType = 60,
  kGetTensorElementCount = 64,
  kGetTensorTypeAndShape = 65,
  kCreateCpuMemoryInfo = 69,
  kGetDefaultAllocator = 78,
  kReleaseValue = 96,
  kReleaseTensorTypeAndShape = 99,
};
constexpr std::uint32_t kTableVersion = 1;
constexpr int kWarning = 2;
constexpr int kNoOptimizations = 0;
constexpr int kAllOptimizations = 99;
constexpr int kDeviceAllocator = 0;
constexpr int kDefaultMemory = 0;

constexpr TypeCode kOnnxTypes[] = {
    {DType::kBool, 9},    {DType::kInt8, 3},     {DType::kInt16, 5},     {DType::kInt32, 6},
    {DType::kInt64, 7},   {DType::kUint8, 2},    {DType::kUint16, 4},    {DType::kUint32, 12},
    {DType::kUint64, 13}, {DType::kFloat16, 10}, {DType::kBfloat16, 16}, {DType::kFloat32, 1},
    {DType::kFloat64, 11}};

class OnnxRuntimeEngine : public Engine {
 public:
  explicit OnnxRuntimeEngine(const Settings& settings)
      : inputs_of_(settings.inputs), outputs_of_(settings.outputs) {
    const SharedLibrary library(settings.get("library"));
    const ApiBase* const base = library.find<const ApiBase*()>("OrtGetApiBase")();
    table_ = base->get_api(kTableVersion);
    version_ = base->version();
    if (table_ == nullptr) throw std::runtime_error("the library offers no table of version 1");
    const std::string model = settings.get("model");
    Handle environment = nullptr;
    Handle options = nullptr;
    call(kCreateEnv, kWarning, "tfaot", &environment);
    call(kCreateSessionOptions, &options);
    call(kSetIntraOpNumThreads, options, 1);
    call(kSetInterOpNumThreads, options, 1);
    call(kSetGraphOptimizationLevel, options,
         settings.get("as_written") == "1" ? kNoOptimizations : kAllOptimizations);
    call(kCreateSession, environment, model.c_str(), options, &session_);
    call(kCreateCpuMemoryInfo, kDeviceAllocator, kDefaultMemory, &memory_);
    call(kGetDefaultAllocator, &allocator_);
    input_names_ = names(kGetInputCount, kGetInputName);
    output_names_ = names(kGetOutputCount, kGetOutputName);
    for (const Constant& constant : settings.constants) take_constant(constant);
    input_places_ = places_of(inputs_of_, input_names_, "inputs");
    output_places_ = places_of(outputs_of_, output_names_, "outputs");
    for (const std::string& name : input_names_) input_words_.push_back(name.c_str());
    for (const Fixed& fixed : fixed_) input_words_.push_back(fixed.tensor.name.c_str());
    for (const std::string& name : output_names_) output_words_.push_back(name.c_str());
    run_ = reinterpret_cast<Run>(table_[kRun]);
  }

  void prepare(std::size_t rows, const std::vector<const void*>& inputs) override {
    // The few bytes of the tensors before are not released: a process sees a dozen batch sizes.
    input_tensors_.clear();
    output_tensors_.clear();
    results_.allocate(outputs_of_, rows);
    for (const std::size_t place : input_places_) {
      input_tensors_.push_back(tensor(inputs_of_[place], rows, const_cast<void*>(inputs[place])));
    }
    for (Fixed& fixed : fixed_) {
      input_tensors_.push_back(tensor(fixed.tensor, 1, fixed.value.data()));
    }
    for (const std::size_t place : output_places_) {
      output_tensors_.push_back(tensor(outputs_of_[place], rows, results_.pointers()[place]));
    }
    rows_ = rows;
    are_in_place_ = start() == nullptr;
  }

  void run() override {
    if (!are_in_place_) std::fill(output_tensors_.begin(), output_tensors_.end(), nullptr);
    if (const OrtStatus status = start(); status != nullptr) fail(status);
    if (!are_in_place_) copy_outputs();
  }

  std::vector<const void*> outputs() override { return results_.contents(); }
  std::string version() override { return version_; }

 private:
  using Run = OrtStatus (*)(Handle session, Handle run_options, const char* const* input_names,
                            const Handle* inputs, std::size_t input_count,
                            const char* const* output_names, std::size_t output_count,
                            Handle* outputs);

  // Outputs without a tensor get one.
  OrtStatus start() {
    return run_(session_, nullptr, input_words_.data(), input_tensors_.data(),
                input_tensors_.size(), output_words_.data(), output_tensors_.size(),
                output_tensors_.data());
  }

  void copy_outputs() {
    for (std::size_t i = 0; i < output_tensors_.size(); ++i) {
      const Tensor& of = outputs_of_[output_places_[i]];
      Handle type = nullptr;
      std::size_t count = 0;
      void* data = nullptr;
      call(kGetTensorTypeAndShape, output_tensors_[i], &type);
      call(kGetTensorElementCount, type, &count);
      call(kGetTensorData, output_tensors_[i], &data);
      std::size_t expected = 1;
      for (const std::int64_t size : of.shape(rows_)) expected *= static_cast<std::size_t>(size);
      if (count != expected) {
        throw std::runtime_error("output '" + output_names_[i] + "' has " + std::to_string(count) +
                                 " elements instead of " + std::to_string(expected));
      }
      std::memcpy(results_.pointers()[output_places_[i]], data, rows_ * of.row_bytes());
      release(kReleaseTensorTypeAndShape, type);
      release(kReleaseValue, output_tensors_[i]);
    }
  }

  void release(Entry entry, Handle handle) {
    reinterpret_cast<void (*)(Handle)>(table_[entry])(handle);
  }

  template <class... Arguments>
  void call(Entry entry, Arguments... arguments) {
    const OrtStatus status =
        reinterpret_cast<OrtStatus (*)(Arguments...)>(table_[entry])(arguments...);
    if (status != nullptr) fail(status);
  }

  [[noreturn]] void fail(OrtStatus status) {
    throw std::runtime_error(
        reinterpret_cast<const char* (*)(OrtStatus)>(table_[kGetErrorMessage])(status));
  }

  std::vector<std::string> names(Entry count_entry, Entry name_entry) {
    std::size_t count = 0;
    call(count_entry, session_, &count);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < count; ++i) {
      char* name = nullptr;
      call(name_entry, session_, i, allocator_, &name);
      names.emplace_back(name);
    }
    return names;
  }

  // An input that has one value. Not every model of a package has it.
  void take_constant(const Constant& constant) {
    const auto name = std::find(input_names_.begin(), input_names_.end(), constant.tensor.name);
    if (name == input_names_.end()) return;
    Handle type = nullptr;
    Handle info = nullptr;
    int code = 0;
    const std::vector<std::string> all = names(kGetInputCount, kGetInputName);
    const auto place = std::find(all.begin(), all.end(), *name) - all.begin();
    call(kGetInputTypeInfo, session_, static_cast<std::size_t>(place), &type);
    call(kCastToTensorInfo, type, &info);
    call(kGetElementType, info, &code);
    fixed_.push_back({constant.tensor, {}});
    fixed_.back().tensor.type = type_of_code(kOnnxTypes, code);
    fixed_.back().value = constant.as(fixed_.back().tensor.type);
    input_names_.erase(name);
  }

  Handle tensor(const Tensor& of, std::size_t rows, void* data) {
    const std::vector<std::int64_t> shape = of.shape(rows);
    Handle value = nullptr;
    call(kCreateTensorWithData, memory_, data, rows * of.row_bytes(), shape.data(), shape.size(),
         code_of(kOnnxTypes, of.type), &value);
    return value;
  }

  std::vector<Tensor> inputs_of_;
  std::vector<Tensor> outputs_of_;
  struct Fixed {
    Tensor tensor;
    std::vector<unsigned char> value;
  };
  std::vector<Fixed> fixed_;
  std::string version_;
  void* const* table_ = nullptr;
  Run run_ = nullptr;
  Handle session_ = nullptr;
  Handle memory_ = nullptr;
  Handle allocator_ = nullptr;
  std::vector<std::string> input_names_;
  std::vector<std::string> output_names_;
  std::vector<const char*> input_words_;
  std::vector<const char*> output_words_;
  std::vector<std::size_t> input_places_;
  std::vector<std::size_t> output_places_;
  std::vector<Handle> input_tensors_;
  std::vector<Handle> output_tensors_;
  OutputMemory results_;
  std::size_t rows_ = 0;
  bool are_in_place_ = true;
};

}  // namespace

std::unique_ptr<Engine> make_onnxruntime_engine(const Settings& settings) {
  return std::make_unique<OnnxRuntimeEngine>(settings);
}

}  // namespace tfaot::runner
