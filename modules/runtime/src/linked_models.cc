// SPDX-License-Identifier: Apache-2.0
// The functions of tfaot.h, over the table that the library was linked with. No exception leaves
// them.
#include "tfaot/runtime/detail/linked_models.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tfaot/runtime/detail/batch_runner.h"
#include "tfaot/runtime/detail/call_check.h"
#include "tfaot/runtime/detail/one_user.h"
#include "tfaot/runtime/detail/version_range.h"
#include "tfaot/runtime/error.h"
#include "tfaot/runtime/tfaot.h"

using tfaot::Description;

// Of a program that takes all of the runtime (--whole-archive) without 'tfaot link', whose table
// replaces it.
extern "C" TFAOT_HIDDEN [[gnu::weak]] const tfaot::LinkedModels tfaot_linked_models = {0, nullptr};

namespace {

using Axes = std::vector<std::vector<std::int32_t>>;  // tfaot_tensor::axes of each tensor

// tfaot_tensor::axes of a dimension.
std::int32_t axis_of(const Description& model, const tfaot::SizeFormula& formula) noexcept {
  std::int32_t axis = TFAOT_FIXED_SIZE;
  for (std::size_t t = 0; t < formula.term_count; ++t) {
    const tfaot::SizeTerm& term = formula.terms[t];
    if (term.within != nullptr) return TFAOT_FOLLOWS_SIZES;
    for (std::size_t d = 0; d < model.dimension_count; ++d) {
      if (term.powers[d] == 0) continue;
      const bool is_its_size = axis == TFAOT_FIXED_SIZE && formula.term_count == 1 &&
                               term.factor == 1 && term.powers[d] == 1 && formula.divisor == 1;
      axis = is_its_size ? static_cast<std::int32_t>(d) : TFAOT_FOLLOWS_SIZES;
    }
  }
  return axis;
}

Axes axes_of(const Description& model, const tfaot::TensorInfo* infos, std::size_t count) {
  Axes axes(count);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t d = 0; infos[i].free_shape != nullptr && d < infos[i].rank; ++d) {
      axes[i].push_back(axis_of(model, infos[i].free_shape[d]));
    }
  }
  return axes;
}

}  // namespace

struct tfaot_handle {
  tfaot_handle(const Description& of, tfaot::BatchRunner with)
      : model(of),
        input_axes(axes_of(of, of.inputs, of.input_count)),
        output_axes(axes_of(of, of.outputs, of.output_count)),
        runner(std::move(with)),
        offsets(of.dimension_count),
        ragged_inputs(of.input_count),
        ragged_outputs(of.output_count) {}

  const Description& model;
  const Axes input_axes;
  const Axes output_axes;
  tfaot::BatchRunner runner;
  tfaot::OneUser user;
  // Of a ragged call.
  std::vector<tfaot::Span<const std::size_t>> offsets;
  std::vector<tfaot::BatchRunner::RaggedInput> ragged_inputs;
  std::vector<tfaot::BatchRunner::RaggedOutput> ragged_outputs;
};

namespace {

using tfaot::Category;
using tfaot::TensorInfo;

// What templates/linked_models.s.mustache writes.
static_assert(offsetof(TensorInfo, dtype) == 8 && offsetof(TensorInfo, row_shape) == 16 &&
              offsetof(TensorInfo, rank) == 24 && offsetof(TensorInfo, row_elements) == 32 &&
              offsetof(TensorInfo, free_shape) == 40 && sizeof(TensorInfo) == 48);
static_assert(offsetof(tfaot::SizeSteps, largest) == 8 && offsetof(tfaot::SizeSteps, step) == 16 &&
              sizeof(tfaot::SizeSteps) == 24 && offsetof(tfaot::SizeTerm, powers) == 8 &&
              offsetof(tfaot::SizeTerm, within) == 16 && sizeof(tfaot::SizeTerm) == 24 &&
              offsetof(tfaot::SizeFormula, term_count) == 8 &&
              offsetof(tfaot::SizeFormula, divisor) == 16 && sizeof(tfaot::SizeFormula) == 24 &&
              offsetof(tfaot::FreeDimension, smallest) == 8 &&
              offsetof(tfaot::FreeDimension, largest) == 16 && sizeof(tfaot::FreeDimension) == 24);
static_assert(offsetof(tfaot::BufferSlot, index) == 4 && offsetof(tfaot::BufferSlot, offset) == 8 &&
              offsetof(tfaot::BufferSlot, size) == 16 && sizeof(tfaot::BufferSlot) == 24);
static_assert(offsetof(tfaot::Code, cpu_features) == 8 && offsetof(tfaot::Code, entry) == 16 &&
              offsetof(tfaot::Code, slots) == 24 && offsetof(tfaot::Code, slot_count) == 32 &&
              offsetof(tfaot::Code, result_slot) == 40 &&
              offsetof(tfaot::Code, scratch_bytes) == 48 && offsetof(tfaot::Code, cost) == 56 &&
              offsetof(tfaot::Code, estimated_cost) == 64 &&
              offsetof(tfaot::Code, live_permille) == 72 &&
              offsetof(tfaot::Code, shared_permille) == 76 &&
              offsetof(tfaot::Code, lane_bytes) == 80 && sizeof(tfaot::Code) == 88);
static_assert(offsetof(tfaot::Program, codes) == 8 && offsetof(tfaot::Program, code_count) == 16 &&
              sizeof(tfaot::Program) == 24);
static_assert(offsetof(Description, version) == 8 && offsetof(Description, inputs) == 16 &&
              offsetof(Description, input_count) == 24 && offsetof(Description, outputs) == 32 &&
              offsetof(Description, output_count) == 40 && offsetof(Description, programs) == 48 &&
              offsetof(Description, program_count) == 56 && offsetof(Description, weights) == 64 &&
              offsetof(Description, weights_bytes) == 72 &&
              offsetof(Description, coupled_rows) == 80 &&
              offsetof(Description, record_version) == 88 &&
              offsetof(Description, record_hash) == 96 &&
              offsetof(Description, dimensions) == 104 &&
              offsetof(Description, dimension_count) == 112 && sizeof(Description) == 120);
// What tfaot.h says in C.
static_assert(static_cast<int>(tfaot::DType::kBool) == TFAOT_BOOL &&
              static_cast<int>(tfaot::DType::kBfloat16) == TFAOT_BFLOAT16 &&
              static_cast<int>(tfaot::DType::kFloat64) == TFAOT_FLOAT64);
static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));

int report(tfaot_error* error, int status, std::string_view text) noexcept {
  constexpr std::size_t kHead = offsetof(tfaot_error, text);
  if (error == nullptr || error->size <= kHead) return status;
  error->status = status;
  const std::size_t length =
      std::min(text.size(), std::min<std::size_t>(error->size, sizeof *error) - kHead - 1);
  std::memcpy(error->text, text.data(), length);
  error->text[length] = '\0';
  return status;
}

int wrong_call(tfaot_error* error, const char* what) noexcept {
  return report(error, TFAOT_WRONG_CALL, what);
}

int status_of(Category category) noexcept {
  struct Row {
    Category category;
    int status;
  };
  constexpr Row kRows[] = {{Category::kInputMismatch, TFAOT_INPUT_MISMATCH},
                           {Category::kOutputMismatch, TFAOT_OUTPUT_MISMATCH},
                           {Category::kUnknownBatchSize, TFAOT_UNKNOWN_BATCH_SIZE},
                           {Category::kUnsupportedCpu, TFAOT_UNSUPPORTED_CPU},
                           {Category::kConcurrentUse, TFAOT_CONCURRENT_USE},
                           {Category::kSizeOutOfRange, TFAOT_SIZE_OUT_OF_RANGE}};
  for (const Row& row : kRows) {
    if (row.category == category) return row.status;
  }
  return TFAOT_FAILED;
}

// What `work` returns; an exception becomes its status and text.
template <class Work>
int without_exceptions(tfaot_error* error, const Work& work) noexcept {
  try {
    return work();
  } catch (const tfaot::Error& caught) {
    // Without the category, which the status says: "InputMismatch: ...".
    return report(error, status_of(caught.code()),
                  std::string_view(caught.what()).substr(caught.category().size() + 2));
  } catch (const std::bad_alloc&) {
    return report(error, TFAOT_NO_MEMORY, "no memory is left");
  } catch (const std::exception& caught) {
    return report(error, TFAOT_FAILED, caught.what());
  }
}

// As much of `value` as the caller's struct holds.
template <class T>
int give(T* to, T value, tfaot_error* error) noexcept {
  if (to == nullptr || to->size < sizeof value.size) {
    return wrong_call(error, "a struct is null, or its size is not set");
  }
  value.size = std::min<std::uint32_t>(to->size, sizeof value);
  std::memcpy(to, &value, value.size);
  return TFAOT_OK;
}

// True if the struct has all members of the first version, or what it is asked for.
template <class T>
bool is_whole(const T* from, std::size_t size = sizeof(T)) noexcept {
  return from != nullptr && from->size >= size;
}

tfaot_record record_of(const Description& model, const char* cpu_level) noexcept {
  const char* const hash = model.record_hash == nullptr ? "" : model.record_hash;
  return {sizeof(tfaot_record), 0,    model.name, model.version,
          model.record_version, hash, cpu_level,  tfaot::detail::instructions_in_use(cpu_level)};
}

// The model's inputs or outputs.
struct Tensors {
  const TensorInfo* infos;
  std::size_t count;
  const Axes& axes;
};
Tensors inputs_of(const tfaot_handle& model) noexcept {
  return {model.model.inputs, model.model.input_count, model.input_axes};
}
Tensors outputs_of(const tfaot_handle& model) noexcept {
  return {model.model.outputs, model.model.output_count, model.output_axes};
}

int give_tensor(const Tensors& tensors, std::uint32_t index, tfaot_tensor* tensor,
                tfaot_error* error) noexcept {
  if (index >= tensors.count) return wrong_call(error, "the model has no such input or output");
  const TensorInfo& info = tensors.infos[index];
  return give(tensor,
              {sizeof(tfaot_tensor), static_cast<std::int32_t>(info.dtype), info.name,
               info.row_shape, info.rank, info.row_elements,
               info.free_shape == nullptr ? nullptr : tensors.axes[index].data()},
              error);
}

int give_shape(const Description& model, const Tensors& tensors, std::uint32_t index,
               const std::int64_t* sizes, std::int64_t* row_shape, tfaot_error* error) noexcept {
  if (index >= tensors.count) return wrong_call(error, "the model has no such input or output");
  const TensorInfo& info = tensors.infos[index];
  if (row_shape == nullptr && info.rank > 0) {
    return wrong_call(error, "there is no place for the shape");
  }
  return without_exceptions(error, [&] {
    if (sizes != nullptr) tfaot::detail::check_sizes(model, sizes);
    for (std::size_t d = 0; d < info.rank; ++d) {
      row_shape[d] = sizes == nullptr || info.free_shape == nullptr
                         ? info.row_shape[d]
                         : tfaot::number_at(info.free_shape[d], sizes, model.dimension_count);
    }
    return static_cast<int>(TFAOT_OK);
  });
}

// "tagger 1.0.0, tagger 1.1.0, ..."
std::string names_of_all() {
  constexpr std::size_t kMost = 20;
  std::string names;
  for (std::size_t i = 0; i < tfaot_linked_models.count; ++i) {
    const Description& model = tfaot_linked_models.models[i];
    if (i == kMost) return names + ", ...";
    names += std::string(i == 0 ? "" : ", ") + model.name + " " + model.version;
  }
  return names;
}

int find_model(const tfaot_request& request, const Description*& found, tfaot_error* error) {
  const std::string_view versions = request.versions == nullptr ? "" : request.versions;
  tfaot::detail::VersionRange range;
  std::string wrong;
  if (!tfaot::detail::VersionRange::parse(versions, range, wrong)) {
    return report(error, TFAOT_WRONG_CALL,
                  "'" + wrong + "' is not a condition on versions, such as >=1.2");
  }
  std::vector<const Description*> models;
  std::vector<std::string> known;
  for (std::size_t i = 0; i < tfaot_linked_models.count; ++i) {
    const Description& model = tfaot_linked_models.models[i];
    if (std::string_view(model.name) != request.name) continue;
    models.push_back(&model);
    known.emplace_back(model.version);
  }
  const std::size_t newest = tfaot::detail::newest_in(range, known);
  if (newest < models.size()) {
    found = models[newest];
    return TFAOT_OK;
  }
  std::string text = models.empty() ? std::string("no model '") + request.name + "'"
                                    : std::string("no version of '") + request.name + "' fits '" +
                                          std::string(versions) + "'";
  return report(error, TFAOT_NO_SUCH_MODEL, text + ": the library has " + names_of_all());
}

// Of a row of a tensor, or of all rows.
std::size_t elements_of(const tfaot_handle& model, const tfaot_call& call, bool is_input,
                        std::size_t i) noexcept {
  const Description& description = model.model;
  const TensorInfo& info = is_input ? description.inputs[i] : description.outputs[i];
  const std::int64_t* const sizes = is_whole(&call) ? call.sizes : nullptr;
  return sizes == nullptr ? info.row_elements
                          : row_elements_at(info, sizes, description.dimension_count);
}

std::size_t elements_of(const tfaot_handle&, const tfaot_ragged_call& call, bool is_input,
                        std::size_t i) noexcept {
  const std::uint64_t* const elements = is_input ? call.input_elements : call.output_elements;
  return elements == nullptr ? 1 : elements[i];
}

// Call: tfaot_call, tfaot_ragged_call. Empty tensors may be null.
template <class Call>
int check_call(const tfaot_handle& model, const Call& call, tfaot_error* error) noexcept {
  const Description& description = model.model;
  if (call.input_count != description.input_count) {
    return report(error, TFAOT_INPUT_MISMATCH, "the call has another number of inputs");
  }
  if (call.output_count != description.output_count) {
    return report(error, TFAOT_OUTPUT_MISMATCH, "the call has another number of outputs");
  }
  if (call.rows == 0) return TFAOT_OK;
  const auto is_missing = [&](std::size_t count, auto tensors, bool is_input) {
    if (count > 0 && tensors == nullptr) return true;
    for (std::size_t i = 0; i < count; ++i) {
      if (tensors[i] == nullptr && elements_of(model, call, is_input, i) > 0) return true;
    }
    return false;
  };
  if (is_missing(description.input_count, call.inputs, true)) {
    return report(error, TFAOT_INPUT_MISMATCH, "an input is null");
  }
  if (is_missing(description.output_count, call.outputs, false)) {
    return report(error, TFAOT_OUTPUT_MISMATCH, "an output is null");
  }
  return TFAOT_OK;
}

template <class Tensor, class Pointers>
void place_ragged(std::vector<Tensor>& tensors, Pointers data, const std::uint64_t* elements) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    tensors[i] = {data == nullptr ? nullptr : data[i],
                  elements == nullptr ? tfaot::BatchRunner::kAnyElements : elements[i]};
  }
}

}  // namespace

// What crtbeginS.o does in a library that a compiler links; `ld` alone does not. The destructors of
// the runtime's static objects run when the library goes.
extern "C" {
TFAOT_HIDDEN extern void* __dso_handle;
int __cxa_finalize(void* dso_handle);
}
namespace {
[[gnu::destructor]] void finalize() { __cxa_finalize(&__dso_handle); }
}  // namespace

extern "C" {

std::uint32_t tfaot_models_interface() { return TFAOT_MODELS_INTERFACE; }

std::uint32_t tfaot_models_count() { return static_cast<std::uint32_t>(tfaot_linked_models.count); }

int tfaot_models_list(std::uint32_t index, tfaot_record* record, tfaot_error* error) {
  if (index >= tfaot_linked_models.count) return wrong_call(error, "there is no such model");
  return give(record, record_of(tfaot_linked_models.models[index], nullptr), error);
}

int tfaot_models_open(const tfaot_request* request, tfaot_handle** model, tfaot_error* error) {
  if (model == nullptr) return wrong_call(error, "there is no place for the model");
  *model = nullptr;
  if (!is_whole(request) || request->name == nullptr) {
    return wrong_call(error, "the request is null, has no name, or its size is not set");
  }
  return without_exceptions(error, [&] {
    const Description* found = nullptr;
    if (const int status = find_model(*request, found, error)) return status;
    *model = new tfaot_handle(*found, tfaot::BatchRunner(*found));
    return static_cast<int>(TFAOT_OK);
  });
}

int tfaot_models_copy(const tfaot_handle* model, tfaot_handle** copy, tfaot_error* error) {
  if (model == nullptr || copy == nullptr) return wrong_call(error, "the model is null");
  *copy = nullptr;
  return without_exceptions(error, [&] {
    *copy = new tfaot_handle(model->model, model->runner.sibling());
    return static_cast<int>(TFAOT_OK);
  });
}

void tfaot_models_close(tfaot_handle* model) { delete model; }

int tfaot_models_record(const tfaot_handle* model, tfaot_record* record, tfaot_error* error) {
  if (model == nullptr) return wrong_call(error, "the model is null");
  return give(record, record_of(model->model, model->runner.instance().cpu_level(0)), error);
}

int tfaot_models_signature(const tfaot_handle* model, tfaot_signature* signature,
                           tfaot_error* error) {
  if (model == nullptr) return wrong_call(error, "the model is null");
  const Description& description = model->model;
  const std::vector<std::size_t>& sizes = model->runner.batch_sizes();
  return give(signature,
              {sizeof(tfaot_signature), static_cast<std::uint32_t>(description.coupled_rows),
               static_cast<std::uint32_t>(description.input_count),
               static_cast<std::uint32_t>(description.output_count), sizes.data(), sizes.size(),
               static_cast<std::uint32_t>(description.dimension_count), 0},
              error);
}

int tfaot_models_input(const tfaot_handle* model, std::uint32_t index, tfaot_tensor* tensor,
                       tfaot_error* error) {
  if (model == nullptr) return wrong_call(error, "the model is null");
  return give_tensor(inputs_of(*model), index, tensor, error);
}

int tfaot_models_output(const tfaot_handle* model, std::uint32_t index, tfaot_tensor* tensor,
                        tfaot_error* error) {
  if (model == nullptr) return wrong_call(error, "the model is null");
  return give_tensor(outputs_of(*model), index, tensor, error);
}

int tfaot_models_dimension(const tfaot_handle* model, std::uint32_t index,
                           tfaot_dimension* dimension, tfaot_error* error) {
  if (model == nullptr) return wrong_call(error, "the model is null");
  if (index >= model->model.dimension_count) {
    return wrong_call(error, "the model has no such free dimension");
  }
  const tfaot::FreeDimension& free = model->model.dimensions[index];
  return give(dimension, {sizeof(tfaot_dimension), 0, free.name, free.smallest, free.largest},
              error);
}

int tfaot_models_input_shape(const tfaot_handle* model, std::uint32_t index,
                             const std::int64_t* sizes, std::int64_t* row_shape,
                             tfaot_error* error) {
  if (model == nullptr) return wrong_call(error, "the model is null");
  return give_shape(model->model, inputs_of(*model), index, sizes, row_shape, error);
}

int tfaot_models_output_shape(const tfaot_handle* model, std::uint32_t index,
                              const std::int64_t* sizes, std::int64_t* row_shape,
                              tfaot_error* error) {
  if (model == nullptr) return wrong_call(error, "the model is null");
  return give_shape(model->model, outputs_of(*model), index, sizes, row_shape, error);
}

int tfaot_models_prepare(tfaot_handle* model, std::uint64_t rows, tfaot_error* error) {
  if (model == nullptr) return wrong_call(error, "the model is null");
  return without_exceptions(error, [&] {
    model->runner.prepare(rows);
    return static_cast<int>(TFAOT_OK);
  });
}

int tfaot_models_run(tfaot_handle* model, const tfaot_call* call, tfaot_error* error) {
  if (model == nullptr || !is_whole(call, offsetof(tfaot_call, sizes))) {
    return wrong_call(error, "the model or the call is null, or the call's size is not set");
  }
  if (const int status = check_call(*model, *call, error)) return status;
  return without_exceptions(error, [&] {
    const tfaot::OneUser::Call use(model->user);
    tfaot::detail::check_alone(use, model->model.name);
    const std::int64_t* const sizes = is_whole(call) ? call->sizes : nullptr;
    sizes == nullptr ? model->runner.set_largest_sizes() : model->runner.set_sizes(sizes);
    model->runner.run(call->rows, call->inputs, call->outputs);
    tfaot::detail::check_alone(use, model->model.name);
    return static_cast<int>(TFAOT_OK);
  });
}

int tfaot_models_run_ragged(tfaot_handle* model, const tfaot_ragged_call* call,
                            tfaot_error* error) {
  if (model == nullptr || !is_whole(call)) {
    return wrong_call(error, "the model or the call is null, or the call's size is not set");
  }
  if (const int status = check_call(*model, *call, error)) return status;
  const std::size_t dimensions = model->model.dimension_count;
  if (call->dimension_count != dimensions) {
    return report(error, TFAOT_INPUT_MISMATCH, "the call has another number of free dimensions");
  }
  for (std::size_t d = 0; d < dimensions; ++d) {
    if (call->offsets == nullptr || call->offsets[d] == nullptr) {
      return report(error, TFAOT_INPUT_MISMATCH, "the offsets of a dimension are null");
    }
  }
  return without_exceptions(error, [&] {
    const tfaot::OneUser::Call use(model->user);
    tfaot::detail::check_alone(use, model->model.name);
    for (std::size_t d = 0; d < dimensions; ++d) {
      model->offsets[d] = {call->offsets[d], call->rows + 1};
    }
    place_ragged(model->ragged_inputs, call->inputs, call->input_elements);
    place_ragged(model->ragged_outputs, call->outputs, call->output_elements);
    model->runner.run_ragged({call->rows, model->offsets.data(), model->ragged_inputs.data(),
                              model->ragged_outputs.data()});
    tfaot::detail::check_alone(use, model->model.name);
    return static_cast<int>(TFAOT_OK);
  });
}
}
