// SPDX-License-Identifier: Apache-2.0
// OpenVINO through its C interface: the CPU plugin with one thread and one stream, made for
// latency, in the precision of the setting "precision" ("f32") or else in its default one, which
// the CPU decides. The model is compiled for each batch size alone; inputs and outputs are in
// place. One input and one output.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "runner.h"
#include "shared_library.h"

namespace tfaot::runner {
namespace {

using Handle = void*;
using VinoStatus = int;  // 0 when all is well

// ov_shape_t
struct Shape {
  std::int64_t rank;
  std::int64_t* sizes;
};
// ov_dimension_t; also ov_rank_t
struct Range {
  std::int64_t min;
  std::int64_t max;
};
// ov_partial_shape_t
struct PartialShape {
  Range rank;
  Range* sizes;
};
// ov_version_t
struct Version {
  const char* build;
  const char* description;
};

constexpr TypeCode kVinoTypes[] = {{DType::kFloat32, 4}};

class OpenVinoEngine : public Engine {
 public:
  explicit OpenVinoEngine(const Settings& settings)
      : input_of_(settings.inputs.at(0)),
        outputs_of_(settings.outputs),
        file_(settings.get("model")),
        precision_(settings.get("precision")),
        library_(settings.get("library")),
        infer_(library_.find<VinoStatus(Handle)>("ov_infer_request_infer")) {
    call("ov_core_create", &core_);
  }

  void prepare(std::size_t rows, const std::vector<const void*>& inputs) override {
    Handle model = nullptr;
    call("ov_core_read_model", core_, file_.c_str(), static_cast<const char*>(nullptr), &model);
    reshape(model, rows);
    release("ov_infer_request_free", request_);
    release("ov_compiled_model_free", compiled_);
    compile(model);
    release("ov_model_free", model);
    call("ov_compiled_model_create_infer_request", compiled_, &request_);
    results_.allocate(outputs_of_, rows);
    bind("ov_infer_request_set_input_tensor_by_index", input_of_, rows,
         const_cast<void*>(inputs.at(0)));
    bind("ov_infer_request_set_output_tensor_by_index", outputs_of_.at(0), rows,
         results_.pointers()[0]);
  }

  void run() override { check("ov_infer_request_infer", infer_(request_)); }

  std::vector<const void*> outputs() override { return results_.contents(); }

  std::string version() override {
    Version found{};
    call("ov_get_openvino_version", &found);
    return found.build;
  }

 private:
  void check(const char* function, VinoStatus status) {
    if (status == 0) return;
    throw std::runtime_error(std::string(function) + " ended with status " +
                             std::to_string(status) + ": " +
                             library_.find<const char*()>("ov_get_last_err_msg")());
  }

  template <class... Arguments>
  void call(const char* function, Arguments... arguments) {
    check(function, library_.find<VinoStatus(Arguments...)>(function)(arguments...));
  }

  void release(const char* function, Handle handle) {
    if (handle != nullptr) library_.find<void(Handle)>(function)(handle);
  }

  void reshape(Handle model, std::size_t rows) {
    std::vector<Range> sizes;
    for (const std::int64_t size : input_of_.shape(rows)) sizes.push_back({size, size});
    const auto rank = static_cast<std::int64_t>(sizes.size());
    call("ov_model_reshape_single_input", model, PartialShape{{rank, rank}, sizes.data()});
  }

  void compile(Handle model) {
    using Compile = VinoStatus(Handle core, Handle model, const char* device,
                               std::size_t property_words, Handle* compiled, ...);
    const std::size_t words = precision_.empty() ? 8 : 10;  // keys and values that are read
    check("ov_core_compile_model",
          library_.find<Compile>("ov_core_compile_model")(
              core_, model, "CPU", words, &compiled_, "PERFORMANCE_HINT", "LATENCY",
              "INFERENCE_NUM_THREADS", "1", "NUM_STREAMS", "1", "ENABLE_CPU_PINNING", "NO",
              "INFERENCE_PRECISION_HINT", precision_.c_str()));
  }

  void bind(const char* function, const Tensor& tensor, std::size_t rows, void* memory) {
    std::vector<std::int64_t> sizes = tensor.shape(rows);
    Handle made = nullptr;
    call("ov_tensor_create_from_host_ptr", code_of(kVinoTypes, tensor.type),
         Shape{static_cast<std::int64_t>(sizes.size()), sizes.data()}, memory, &made);
    call(function, request_, std::size_t{0}, static_cast<const void*>(made));
    release("ov_tensor_free", made);
  }

  Tensor input_of_;
  std::vector<Tensor> outputs_of_;
  std::string file_;
  std::string precision_;
  SharedLibrary library_;
  VinoStatus (*infer_)(Handle request);
  Handle core_ = nullptr;
  Handle compiled_ = nullptr;
  Handle request_ = nullptr;
  OutputMemory results_;
};

}  // namespace

std::unique_ptr<Engine> make_engine(const Settings& settings) {
  return std::make_unique<OpenVinoEngine>(settings);
}

}  // namespace tfaot::runner
