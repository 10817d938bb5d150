// SPDX-License-Identifier: Apache-2.0
// Models that are chosen at run time, by name and range of versions, from the libraries that
// 'tfaot install --link' or 'tfaot link' made:
//   tfaot::Models models("area");
//   auto tagger = models.load("tagger", ">=1.2 <2");
//   if (!tagger) return complain(tagger.error().text);
//   tagger->run(rows, {{"x", x}}, {{"y", y}});
// Needs libdl and the C++17 library alone: no other library of tfaot. Nothing throws, except for
// lack of memory, and for results that are used without a check.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "tfaot/runtime/detail/arguments.h"
#include "tfaot/runtime/detail/models_library.h"
#include "tfaot/runtime/expected.h"
#include "tfaot/runtime/record.h"
#include "tfaot/runtime/signature.h"
#include "tfaot/runtime/span.h"
#include "tfaot/runtime/tensors_in_order.h"
#include "tfaot/runtime/tfaot.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// An input of LoadedModel::run(): its name and its elements, which must outlive the call.
struct NamedInput {
  /// `{"x", x}`: any contiguous memory of a tensor's element type.
  template <class C>
  NamedInput(std::string_view input, const C& elements)
      : name(input),
        data(std::data(elements)),
        size(std::size(elements)),
        dtype(kDTypeOf<std::remove_const_t<detail::ElementIn<const C>>>) {}

  std::string_view name;  ///< the name in the model
  const void* data;       ///< all rows, row-major
  std::size_t size;       ///< number of elements
  DType dtype;            ///< their type
};

/// An output of LoadedModel::run(), as NamedInput.
struct NamedOutput {
  /// `{"y", y}`: any contiguous memory of a tensor's element type.
  template <class C, class = std::enable_if_t<!std::is_const_v<detail::ElementIn<C>>>>
  NamedOutput(std::string_view output, C&& elements)
      : name(output),
        data(std::data(elements)),
        size(std::size(elements)),
        dtype(kDTypeOf<detail::ElementIn<C>>) {}

  std::string_view name;  ///< the name in the model
  void* data;             ///< all rows, row-major
  std::size_t size;       ///< number of elements
  DType dtype;            ///< their type
};

/// The size of a free dimension in LoadedModel::run(): `{"n_tracks", 37}`.
struct NamedSize {
  std::string_view name;  ///< the name in the model
  std::size_t size;       ///< of all rows of the call
};

/// Where the elements of each row begin in LoadedModel::run_ragged(): `{"n_tracks", offsets}`.
struct NamedOffsets {
  std::string_view name;            ///< the name of the free dimension in the model
  Span<const std::size_t> offsets;  ///< rows + 1 of them, the first 0
};

/// What a program expects of an input or output: `tfaot::wanted<float>("x", {4})`.
struct WantedTensor {
  std::string name;                     ///< the name in the model
  DType dtype;                          ///< type of the elements
  std::vector<std::int64_t> row_shape;  ///< dimensions of one row; {}: a single number
};
/// A WantedTensor with elements of type T.
template <class T>
WantedTensor wanted(std::string name, std::vector<std::int64_t> row_shape) {
  return {std::move(name), kDTypeOf<T>, std::move(row_shape)};
}

/// A model of a library, with its own memory. One thread at a time: another() makes one for another
/// thread. Can be moved, not copied. The library stays loaded as long as a model of it lives.
class LoadedModel {
 public:
  /// Runs `rows` rows, by name and in any order: `model.run(rows, {{"x", x}}, {{"y", y}})`. Each
  /// tensor of the model must be there, with its element type and exactly `rows` rows. Any number
  /// of rows is fine, 0 included, unless rows are coupled; a model without a batch takes 1.
  ///
  /// Fails before anything runs, and names the tensor. REQUIRES: outputs do not overlap each other
  /// or an input.
  Expected<void> run(std::size_t rows, std::initializer_list<NamedInput> inputs,
                     std::initializer_list<NamedOutput> outputs) {
    return run(rows, {}, inputs, outputs);
  }

  /// Runs `rows` rows whose free dimensions have these sizes (docs/dimensions.md); others have the
  /// largest: `model.run(rows, {{"n_tracks", 37}}, {{"x", x}}, {{"y", y}})`. Each tensor holds
  /// exactly `rows` rows of these sizes. Fails as above, and with TFAOT_SIZE_OUT_OF_RANGE.
  Expected<void> run(std::size_t rows, std::initializer_list<NamedSize> sizes,
                     std::initializer_list<NamedInput> inputs,
                     std::initializer_list<NamedOutput> outputs) {
    Expected<void> fits = set_sizes(sizes);
    return fits ? run_named({rows, false}, inputs, outputs) : fits;
  }

  /// The same in the model's order: `model.run(rows, tfaot::inputs(x, ids), tfaot::outputs(y))`.
  template <class... In, class... Out>
  Expected<void> run(std::size_t rows, const std::tuple<Span<In>...>& inputs,
                     const std::tuple<Span<Out>...>& outputs) {
    return run(rows, Span<const std::int64_t>(), inputs, outputs);
  }
  /// The same with the size of each free dimension, in the order of dimensions(); none: the
  /// largest.
  template <class... In, class... Out>
  Expected<void> run(std::size_t rows, Span<const std::int64_t> sizes,
                     const std::tuple<Span<In>...>& inputs,
                     const std::tuple<Span<Out>...>& outputs) {
    Expected<void> fits = set_sizes(sizes);
    if (!fits) return fits;
    return run_spans({rows, false}, inputs, outputs, std::index_sequence_for<In...>(),
                     std::index_sequence_for<Out...>());
  }

  /// Runs rows of different sizes: `model.run_ragged(rows, {{"n_tracks", offsets}}, {{"x", x}},
  /// {{"y", y}})`. Each free dimension must be there. Row i has the size offsets[i + 1] -
  /// offsets[i]. Each tensor holds the rows one after another, without padding, the outputs in the
  /// order of the inputs. Fails as above, before anything runs.
  Expected<void> run_ragged(std::size_t rows, std::initializer_list<NamedOffsets> offsets,
                            std::initializer_list<NamedInput> inputs,
                            std::initializer_list<NamedOutput> outputs) {
    Expected<void> fits = set_offsets(rows, offsets);
    return fits ? run_named({rows, true}, inputs, outputs) : fits;
  }
  /// The same in the model's order: of dimensions(), and of the signature.
  template <class... In, class... Out>
  Expected<void> run_ragged(std::size_t rows, Span<const Span<const std::size_t>> offsets,
                            const std::tuple<Span<In>...>& inputs,
                            const std::tuple<Span<Out>...>& outputs) {
    Expected<void> fits = set_offsets(rows, offsets);
    if (!fits) return fits;
    return run_spans({rows, true}, inputs, outputs, std::index_sequence_for<In...>(),
                     std::index_sequence_for<Out...>());
  }

  /// Allocates what calls of up to `rows` rows need: they then allocate nothing.
  Expected<void> prepare(std::size_t rows) {
    tfaot_error error = empty_error();
    const int status = library().prepare(parts_->handle, rows, &error);
    return status == TFAOT_OK ? Expected<void>() : failed(status, error.text);
  }

  /// The same model for another thread. Both share code and weights.
  Expected<LoadedModel> another() const {
    tfaot_error error = empty_error();
    tfaot_handle* handle = nullptr;
    const int status = library().copy(parts_->handle, &handle, &error);
    if (status != TFAOT_OK) return failed(status, error.text);
    return of_handle(parts_->library, handle);
  }

  /// Names, element types and shapes, in the model's order. Lives as long as this object.
  /// Free dimensions have their largest sizes.
  Signature signature() const noexcept { return {parts_->inputs, parts_->outputs}; }
  /// The dimensions whose sizes each call chooses. Lives as long as this object.
  Span<const FreeDimension> dimensions() const noexcept { return parts_->dimensions; }
  /// Fails, and says why, unless the model has these inputs and outputs. It may have others too.
  Expected<void> expect(const std::vector<WantedTensor>& inputs,
                        const std::vector<WantedTensor>& outputs) const {
    for (const WantedTensor& tensor : inputs) {
      const std::size_t i = find(parts_->inputs, tensor.name);
      if (Expected<void> fits = compare(parts_->inputs, i, tensor); !fits) return fits;
    }
    for (const WantedTensor& tensor : outputs) {
      const std::size_t i = find(parts_->outputs, tensor.name);
      if (Expected<void> fits = compare(parts_->outputs, i, tensor); !fits) return fits;
    }
    return {};
  }

  /// Name, version number and hash of the package, and the CPU level that runs, as of
  /// native::Model::record(). The texts live as long as the library is loaded.
  ModelRecord record() const noexcept {
    const tfaot_record& record = parts_->record;
    return {record.model_name, record.record_version, record.hash, record.cpu_level,
            record.instructions == nullptr ? "" : record.instructions};
  }
  /// The model's name, `model.name` of the config.
  std::string_view name() const noexcept { return parts_->record.model_name; }
  /// The model's version, `model.version` of the config, such as "1.0.0".
  std::string_view version() const noexcept { return parts_->record.version; }
  /// The compiled numbers of rows, ascending.
  Span<const std::uint64_t> batch_sizes() const noexcept {
    return {parts_->signature.batch_sizes, parts_->signature.batch_size_count};
  }
  /// The file of the library.
  const std::string& library_file() const noexcept { return library().file(); }

 private:
  friend class Models;
  template <class M>
  friend class TypedModel;

  struct Parts {
    Parts(std::shared_ptr<const detail::ModelsLibrary> of, tfaot_handle* opened)
        : library(std::move(of)), handle(opened) {}
    Parts(const Parts&) = delete;
    Parts& operator=(const Parts&) = delete;
    ~Parts() { library->close(handle); }

    const std::shared_ptr<const detail::ModelsLibrary> library;
    tfaot_handle* const handle;
    tfaot_record record{};
    tfaot_signature signature{};
    std::vector<TensorInfo> inputs{};
    std::vector<TensorInfo> outputs{};
    std::vector<FreeDimension> dimensions{};
    // Of one call, in the model's order. The tensors are at its sizes.
    std::vector<std::int64_t> sizes{};
    std::vector<std::int64_t> next_sizes{};
    std::vector<TensorInfo> inputs_now{};
    std::vector<TensorInfo> outputs_now{};
    std::vector<std::vector<std::int64_t>> shapes_now{};  // of inputs, then outputs
    std::vector<const std::uint64_t*> offsets{};
    std::vector<const void*> in{};
    std::vector<void*> out{};
    std::vector<std::uint64_t> in_elements{};
    std::vector<std::uint64_t> out_elements{};
  };
  // Of a call. Only the library knows how many elements ragged ones have.
  struct Rows {
    std::size_t count;
    bool ragged;
  };
  // In the model's order.
  struct Tensors {
    const void* const* inputs;
    void* const* outputs;
    const std::uint64_t* input_elements;
    const std::uint64_t* output_elements;
  };
  explicit LoadedModel(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

  static tfaot_error empty_error() noexcept {
    tfaot_error error;
    error.size = sizeof error;
    error.status = 0;
    error.text[0] = '\0';
    return error;
  }

  static tfaot_error unknown_type() noexcept {
    return {sizeof(tfaot_error), TFAOT_FAILED, "a tensor has a type that only newer headers know"};
  }

  static Expected<LoadedModel> of_handle(std::shared_ptr<const detail::ModelsLibrary> library,
                                         tfaot_handle* handle) {
    LoadedModel model(std::make_unique<Parts>(std::move(library), handle));
    Parts& parts = *model.parts_;
    parts.record.size = sizeof parts.record;
    parts.signature.size = sizeof parts.signature;
    tfaot_error error = empty_error();
    int status = parts.library->record(handle, &parts.record, &error);
    if (status == TFAOT_OK) {
      status = parts.library->signature(handle, &parts.signature, &error);
    }
    if (status == TFAOT_OK) {
      status = read_tensors(parts, parts.library->input, parts.signature.input_count, parts.inputs,
                            error);
    }
    if (status == TFAOT_OK) {
      status = read_tensors(parts, parts.library->output, parts.signature.output_count,
                            parts.outputs, error);
    }
    for (std::uint32_t i = 0; status == TFAOT_OK && i < parts.signature.dimension_count; ++i) {
      tfaot_dimension dimension{};
      dimension.size = sizeof dimension;
      status = parts.library->dimension(handle, i, &dimension, &error);
      parts.dimensions.push_back({dimension.name, dimension.smallest, dimension.largest});
      parts.sizes.push_back(dimension.largest);
    }
    if (status != TFAOT_OK) return Failure{status, parts.library->file() + ": " + error.text};
    parts.next_sizes = parts.sizes;
    parts.offsets.resize(parts.sizes.size());
    parts.inputs_now = parts.inputs;
    parts.outputs_now = parts.outputs;
    for (const auto* infos : {&parts.inputs, &parts.outputs}) {
      for (const TensorInfo& info : *infos) parts.shapes_now.emplace_back(info.rank);
    }
    // One element more: data() of an empty vector may be null.
    parts.in.resize(parts.inputs.size() + 1);
    parts.out.resize(parts.outputs.size() + 1);
    parts.in_elements.resize(parts.in.size());
    parts.out_elements.resize(parts.out.size());
    return model;
  }

  template <class Read>
  static int read_tensors(const Parts& parts, Read read, std::uint32_t count,
                          std::vector<TensorInfo>& infos, tfaot_error& error) {
    for (std::uint32_t i = 0; i < count; ++i) {
      tfaot_tensor tensor{};
      tensor.size = sizeof tensor;
      const int status = read(parts.handle, i, &tensor, &error);
      if (status != TFAOT_OK) return status;
      if (tensor.dtype < TFAOT_BOOL || tensor.dtype > TFAOT_FLOAT64) {
        error = unknown_type();
        return TFAOT_FAILED;
      }
      infos.push_back({tensor.name, static_cast<DType>(tensor.dtype), tensor.row_shape,
                       static_cast<std::size_t>(tensor.rank),
                       static_cast<std::size_t>(tensor.row_elements)});
    }
    return TFAOT_OK;
  }

  const detail::ModelsLibrary& library() const noexcept { return *parts_->library; }
  bool is_input(const std::vector<TensorInfo>& infos) const noexcept {
    return &infos == &parts_->inputs || &infos == &parts_->inputs_now;
  }
  const char* word(const std::vector<TensorInfo>& infos) const noexcept {
    return is_input(infos) ? "input" : "output";
  }

  // What the library says names the model already.
  Failure failed(int status, const std::string& text) const {
    const std::string who = "model '" + std::string(name()) + "'";
    const bool has_name = text.compare(0, who.size() + 2, who + ": ") == 0;
    return {status, who + " " + std::string(version()) + ": " +
                        (has_name ? text.substr(who.size() + 2) : text)};
  }
  Failure mismatch(const std::vector<TensorInfo>& infos, const std::string& text) const {
    return failed(is_input(infos) ? TFAOT_INPUT_MISMATCH : TFAOT_OUTPUT_MISMATCH, text);
  }

  static std::size_t find(const std::vector<TensorInfo>& infos, std::string_view name) noexcept {
    std::size_t i = 0;
    while (i < infos.size() && name != infos[i].name) ++i;
    return i;
  }

  // "float32 [4]"
  template <class Shape>
  static std::string type_of(DType dtype, const Shape& shape) {
    std::string text = std::string(name_of(dtype)) + " [";
    for (const std::int64_t size : shape) {
      text += (text.back() == '[' ? "" : ", ") + std::to_string(size);
    }
    return text + "]";
  }

  Failure no_such_tensor(const std::vector<TensorInfo>& infos, std::string_view name) const {
    std::string names;
    for (const TensorInfo& info : infos)
      names += (names.empty() ? "" : ", ") + std::string(info.name);
    return mismatch(infos, std::string("no ") + word(infos) + " '" + std::string(name) +
                               "'; it has " + (names.empty() ? "none" : names));
  }

  // Index: of the tensor with the wanted name, or in the wanted place.
  Expected<void> compare(const std::vector<TensorInfo>& infos, std::size_t index,
                         const WantedTensor& wanted) const {
    if (index >= infos.size()) return no_such_tensor(infos, wanted.name);
    const TensorInfo& info = infos[index];
    const Span<const std::int64_t> shape = info.shape();
    const bool is_equal =
        wanted.name == info.name && wanted.dtype == info.dtype &&
        std::equal(shape.begin(), shape.end(), wanted.row_shape.begin(), wanted.row_shape.end());
    if (is_equal) return {};
    return mismatch(infos, std::string(word(infos)) + " '" + info.name + "' is " +
                               type_of(info.dtype, shape) + ", but '" + wanted.name + "', " +
                               type_of(wanted.dtype, wanted.row_shape) + ", is expected");
  }

  // Type and number of elements of tensor `index`.
  template <class Given>
  Expected<void> check(Rows rows, const std::vector<TensorInfo>& infos, std::size_t index,
                       const Given& given) const {
    const TensorInfo& info = infos[index];
    if (rows.ragged) {
      if (info.dtype == given.dtype) return {};
      return mismatch(infos, std::string(word(infos)) + " '" + info.name + "' holds " +
                                 name_of(given.dtype) + ", but " + name_of(info.dtype) +
                                 " is expected");
    }
    std::size_t elements = 0;
    const bool fits = info.dtype == given.dtype &&
                      !__builtin_mul_overflow(rows.count, info.row_elements, &elements) &&
                      elements == given.size;
    if (fits) return {};
    return mismatch(infos, std::string(word(infos)) + " '" + info.name + "' holds " +
                               std::to_string(given.size) + " elements of " + name_of(given.dtype) +
                               ", but " + std::to_string(rows.count) + " rows of " +
                               type_of(info.dtype, info.shape()) + " are expected");
  }

  Expected<void> set_sizes(std::initializer_list<NamedSize> sizes) {
    Parts& parts = *parts_;
    for (std::size_t d = 0; d < parts.dimensions.size(); ++d) {
      parts.next_sizes[d] = parts.dimensions[d].largest;
    }
    for (const NamedSize& given : sizes) {
      const std::size_t d = find_dimension(given.name);
      if (d == parts.dimensions.size()) return no_such_dimension(given.name);
      parts.next_sizes[d] = static_cast<std::int64_t>(given.size);
    }
    return use_next_sizes();
  }
  std::size_t find_dimension(std::string_view name) const noexcept {
    std::size_t d = 0;
    while (d < parts_->dimensions.size() && name != parts_->dimensions[d].name) ++d;
    return d;
  }
  Failure no_such_dimension(std::string_view name) const {
    std::string names;
    for (const FreeDimension& one : parts_->dimensions) {
      names += (names.empty() ? "" : ", ") + std::string(one.name);
    }
    return failed(TFAOT_INPUT_MISMATCH, "no free dimension '" + std::string(name) + "'; it has " +
                                            (names.empty() ? "none" : names));
  }
  Expected<void> set_sizes(Span<const std::int64_t> sizes) {
    Parts& parts = *parts_;
    if (sizes.size() == 0) return set_sizes(std::initializer_list<NamedSize>());
    if (sizes.size() != parts.dimensions.size()) {
      return failed(TFAOT_INPUT_MISMATCH,
                    std::to_string(sizes.size()) + " sizes, but the model has " +
                        std::to_string(parts.dimensions.size()) + " free dimensions");
    }
    std::copy(sizes.begin(), sizes.end(), parts.next_sizes.begin());
    return use_next_sizes();
  }

  Expected<void> set_offsets(std::size_t rows, std::initializer_list<NamedOffsets> offsets) {
    Parts& parts = *parts_;
    std::fill(parts.offsets.begin(), parts.offsets.end(), nullptr);
    for (const NamedOffsets& given : offsets) {
      const std::size_t d = find_dimension(given.name);
      if (d == parts.dimensions.size()) return no_such_dimension(given.name);
      if (Expected<void> fits = set_offsets_of(d, rows, given.offsets); !fits) return fits;
    }
    for (std::size_t d = 0; d < parts.offsets.size(); ++d) {
      if (parts.offsets[d] != nullptr) continue;
      return failed(TFAOT_INPUT_MISMATCH,
                    "the offsets of '" + std::string(parts.dimensions[d].name) + "' are left out");
    }
    return {};
  }
  Expected<void> set_offsets(std::size_t rows, Span<const Span<const std::size_t>> offsets) {
    if (offsets.size() != parts_->dimensions.size()) {
      return failed(TFAOT_INPUT_MISMATCH, "offsets of " + std::to_string(offsets.size()) +
                                              " dimensions, but the model has " +
                                              std::to_string(parts_->dimensions.size()) +
                                              " free dimensions");
    }
    Expected<void> fits;
    for (std::size_t d = 0; fits && d < offsets.size(); ++d) {
      fits = set_offsets_of(d, rows, offsets.data()[d]);
    }
    return fits;
  }
  Expected<void> set_offsets_of(std::size_t d, std::size_t rows, Span<const std::size_t> offsets) {
    static_assert(sizeof(std::size_t) == sizeof(std::uint64_t));
    parts_->offsets[d] = offsets.data();
    if (offsets.size() == rows + 1) return {};
    return failed(TFAOT_INPUT_MISMATCH,
                  "the offsets of '" + std::string(parts_->dimensions[d].name) + "' are " +
                      std::to_string(offsets.size()) + ", but " + std::to_string(rows) +
                      " rows have " + std::to_string(rows + 1));
  }

  Expected<void> use_next_sizes() {
    Parts& parts = *parts_;
    if (parts.next_sizes == parts.sizes) return {};
    for (std::size_t i = 0; i < parts.shapes_now.size(); ++i) {
      const bool is_input = i < parts.inputs.size();
      const std::size_t index = is_input ? i : i - parts.inputs.size();
      TensorInfo& info = is_input ? parts.inputs_now[index] : parts.outputs_now[index];
      std::vector<std::int64_t>& shape = parts.shapes_now[i];
      tfaot_error error = empty_error();
      const auto shape_of = is_input ? library().input_shape : library().output_shape;
      const int status = shape_of(parts.handle, static_cast<std::uint32_t>(index),
                                  parts.next_sizes.data(), shape.data(), &error);
      if (status != TFAOT_OK) {
        parts.sizes.assign(parts.sizes.size(), -1);  // tensors are at no sizes now
        return failed(status, error.text);
      }
      info.row_shape = shape.data();
      info.row_elements = 1;
      for (const std::int64_t size : shape) info.row_elements *= static_cast<std::size_t>(size);
    }
    parts.sizes = parts.next_sizes;
    return {};
  }

  Expected<void> run_named(Rows rows, std::initializer_list<NamedInput> inputs,
                           std::initializer_list<NamedOutput> outputs) {
    Parts& parts = *parts_;
    Expected<void> fits = place(rows, inputs, parts.inputs_now, parts.in, parts.in_elements);
    if (fits) fits = place(rows, outputs, parts.outputs_now, parts.out, parts.out_elements);
    if (!fits) return fits;
    return call(rows, {parts.in.data(), parts.out.data(), parts.in_elements.data(),
                       parts.out_elements.data()});
  }

  // Puts the pointers in the model's order.
  template <class Given, class Pointer>
  Expected<void> place(Rows rows, std::initializer_list<Given> tensors,
                       const std::vector<TensorInfo>& infos, std::vector<Pointer>& pointers,
                       std::vector<std::uint64_t>& elements) {
    const Pointer none = parts_.get();  // the address of no tensor
    std::fill_n(pointers.begin(), infos.size(), none);
    std::size_t next = 0;  // most calls are in the model's order
    for (const Given& given : tensors) {
      std::size_t i = next;
      if (i >= infos.size() || given.name != infos[i].name) i = find(infos, given.name);
      if (i == infos.size()) return no_such_tensor(infos, given.name);
      if (pointers[i] != none) {
        return mismatch(infos, std::string(word(infos)) + " '" + infos[i].name + "' comes twice");
      }
      if (Expected<void> fits = check(rows, infos, i, given); !fits) return fits;
      pointers[i] = given.data;
      elements[i] = given.size;
      next = i + 1;
    }
    for (std::size_t i = 0; i < infos.size(); ++i) {
      if (pointers[i] != none) continue;
      return mismatch(infos, std::string(word(infos)) + " '" + infos[i].name + "' is left out");
    }
    return {};
  }

  template <class In, class Out, std::size_t... I, std::size_t... O>
  Expected<void> run_spans(Rows rows, const In& inputs, const Out& outputs,
                           std::index_sequence<I...>, std::index_sequence<O...>) {
    if (Expected<void> fits = check_all<I...>(rows, parts_->inputs_now, inputs); !fits) return fits;
    if (Expected<void> fits = check_all<O...>(rows, parts_->outputs_now, outputs); !fits) {
      return fits;
    }
    // One element more, because a tuple may be empty.
    const void* const in[] = {std::get<I>(inputs).data()..., nullptr};
    void* const out[] = {std::get<O>(outputs).data()..., nullptr};
    const std::uint64_t in_elements[] = {std::get<I>(inputs).size()..., 0};
    const std::uint64_t out_elements[] = {std::get<O>(outputs).size()..., 0};
    return call(rows, {in, out, in_elements, out_elements});
  }
  template <std::size_t... I, class Tensors>
  Expected<void> check_all(Rows rows, const std::vector<TensorInfo>& infos,
                           const Tensors& tensors) const {
    struct Given {
      std::size_t size;
      DType dtype;
    };
    if (sizeof...(I) != infos.size()) {
      return mismatch(infos, std::to_string(sizeof...(I)) + " " + word(infos) + "s instead of " +
                                 std::to_string(infos.size()));
    }
    const auto given = [](const auto& span) {
      return Given{span.size(),
                   kDTypeOf<std::remove_const_t<std::remove_pointer_t<decltype(span.data())>>>};
    };
    Expected<void> fits;
    static_cast<void>(given);
    static_cast<void>(tensors);
    static_cast<void>(
        (static_cast<bool>(fits = check(rows, infos, I, given(std::get<I>(tensors)))) && ...));
    return fits;
  }

  Expected<void> call(Rows rows, const Tensors& tensors) {
    const auto input_count = static_cast<std::uint32_t>(parts_->inputs.size());
    const auto output_count = static_cast<std::uint32_t>(parts_->outputs.size());
    tfaot_error error = empty_error();
    int status = TFAOT_OK;
    if (rows.ragged) {
      if (library().run_ragged == nullptr) {
        return failed(TFAOT_NO_LIBRARY, "its library, of an older tfaot, cannot run ragged rows");
      }
      const tfaot_ragged_call call = {sizeof(tfaot_ragged_call),
                                      input_count,
                                      output_count,
                                      static_cast<std::uint32_t>(parts_->offsets.size()),
                                      rows.count,
                                      tensors.inputs,
                                      tensors.outputs,
                                      parts_->offsets.data(),
                                      tensors.input_elements,
                                      tensors.output_elements};
      status = library().run_ragged(parts_->handle, &call, &error);
    } else {
      const tfaot_call call = {
          sizeof(tfaot_call), input_count,
          output_count,       0,
          rows.count,         tensors.inputs,
          tensors.outputs,    parts_->sizes.empty() ? nullptr : parts_->sizes.data()};
      status = library().run(parts_->handle, &call, &error);
    }
    return status == TFAOT_OK ? Expected<void>() : failed(status, error.text);
  }

  std::unique_ptr<Parts> parts_;
};

/// A loaded model that has the signature of the class M in a `model.h`: names and types of a call
/// are checked by the compiler. The header's code is not linked.
template <class M>
class TypedModel {
 public:
  /// The inputs by name, as of native::Model.
  using Inputs = typename detail::TensorsOf<typename M::Inputs>::Inputs;
  /// The outputs by name, as of native::Model.
  using Outputs = typename detail::TensorsOf<typename M::Outputs>::Outputs;

  /// As native::Model::run(): `model.run(rows, {.x = x}, {.y = y})` in C++20.
  Expected<void> run(std::size_t rows, const Inputs& inputs, const Outputs& outputs) {
    return model_.run(rows, in_tuple(detail::in_order(inputs)),
                      in_tuple(detail::in_order(outputs)));
  }
  /// The same in the model's order.
  template <class... In, class... Out>
  Expected<void> run(std::size_t rows, const std::tuple<Span<In>...>& inputs,
                     const std::tuple<Span<Out>...>& outputs) {
    return model_.run(rows, inputs, outputs);
  }
  /// The sizes of the free dimensions, by name, as of native::Model.
  using Sizes = typename detail::SizesOf<M>::Sizes;
  /// As native::Model::run() with sizes: `model.run(rows, {.n = 37}, {.x = x}, {.y = y})`.
  Expected<void> run(std::size_t rows, const Sizes& sizes, const Inputs& inputs,
                     const Outputs& outputs) {
    const auto in_order = sizes.in_order();
    return model_.run(rows, Span<const std::int64_t>(in_order.data(), in_order.size()),
                      in_tuple(detail::in_order(inputs)), in_tuple(detail::in_order(outputs)));
  }
  /// For each free dimension, where the elements of each row begin, as of native::Model.
  using Offsets = typename detail::SizesOf<M>::Offsets;
  /// As native::Model::run_ragged(): `model.run_ragged(rows, {.n = offsets}, {.x = x}, {.y = y})`.
  Expected<void> run_ragged(std::size_t rows, const Offsets& offsets, const Inputs& inputs,
                            const Outputs& outputs) {
    const auto in_order = offsets.in_order();
    return model_.run_ragged(
        rows, Span<const Span<const std::size_t>>(in_order.data(), in_order.size()),
        in_tuple(detail::in_order(inputs)), in_tuple(detail::in_order(outputs)));
  }

  /// The model without its class.
  LoadedModel& untyped() noexcept { return model_; }
  /// As LoadedModel::prepare().
  Expected<void> prepare(std::size_t rows) { return model_.prepare(rows); }
  /// As LoadedModel::another().
  Expected<TypedModel> another() const {
    Expected<LoadedModel> model = model_.another();
    if (!model) return model.error();
    return TypedModel(*std::move(model));
  }
  /// As LoadedModel::record().
  ModelRecord record() const noexcept { return model_.record(); }
  /// As LoadedModel::version().
  std::string_view version() const noexcept { return model_.version(); }

 private:
  friend class Models;
  explicit TypedModel(LoadedModel model) : model_(std::move(model)) {}

  // Spans in place of references to them.
  template <class... T>
  static std::tuple<std::decay_t<T>...> in_tuple(const std::tuple<T...>& spans) {
    return spans;
  }

  template <class T, std::int64_t... RowShape>
  static WantedTensor wanted_of(Tensor<T, RowShape...>, const char* name) {
    return wanted<T>(name, {RowShape...});
  }
  template <class Tensors, class... T>
  Expected<void> check(const std::vector<TensorInfo>& infos, TensorList<T...>) const {
    if (sizeof...(T) != infos.size()) {
      return model_.mismatch(infos, std::to_string(infos.size()) + " " + model_.word(infos) +
                                        "s, but the header has " + std::to_string(sizeof...(T)));
    }
    Expected<void> fits;
    std::size_t i = 0;
    const auto fits_next = [&](const WantedTensor& wanted) {
      fits = model_.compare(infos, i++, wanted);
      return static_cast<bool>(fits);
    };
    static_cast<void>((fits_next(wanted_of(T(), name_in<Tensors>(infos, i, 0))) && ...));
    return fits;
  }
  // The name in the header. Older headers have none; then any name fits.
  template <class Tensors>
  static auto name_in(const std::vector<TensorInfo>& /*infos*/, std::size_t i, int)
      -> decltype(Tensors::kNames[i]) {
    return Tensors::kNames[i];
  }
  template <class Tensors>
  static const char* name_in(const std::vector<TensorInfo>& infos, std::size_t i, long) {
    return infos[i].name;
  }

  Expected<void> check() const {
    using In = typename M::Inputs;
    using Out = typename M::Outputs;
    Expected<void> fits = check<In>(model_.parts_->inputs, typename detail::TensorsOf<In>::Types());
    if (!fits) return fits;
    return check<Out>(model_.parts_->outputs, typename detail::TensorsOf<Out>::Types());
  }

  LoadedModel model_;
};

/// The models of a release area, or of one library of 'tfaot link'. Holds only a path: load() looks
/// each time, so it finds what was installed meanwhile. Safe from many threads.
class Models {
 public:
  /// A release area whose packages were installed with `tfaot install --link`, or a library that
  /// `tfaot link` made. Not opened yet.
  explicit Models(const std::string& area_or_library) : place_(area_or_library) {}

  /// The model of this name, in a version that fits: the area's current one if it does, else the
  /// newest. `versions` holds conditions, all of which must hold, such as ">=1.2 <2"; a plain
  /// version means exactly that one, and none means any. Fails with a text that says what there is.
  Expected<LoadedModel> load(const std::string& name, const std::string& versions = "") const {
    const Expected<detail::FoundModel> found = place_.find(name, versions);
    if (!found) return found.error();
    auto library = detail::ModelsLibrary::open(found->file);
    if (!library) return library.error();
    const tfaot_request request = {sizeof(tfaot_request), 0, name.c_str(), found->versions.c_str()};
    tfaot_error error = LoadedModel::empty_error();
    tfaot_handle* handle = nullptr;
    const int status = (*library)->open_model(&request, &handle, &error);
    if (status != TFAOT_OK) return Failure{status, found->file + ": " + error.text};
    return LoadedModel::of_handle(*library, handle);
  }

  /// The same for a program that includes the model's `model.h`:
  /// `models.load<tfaot_model::tagger>("tagger", ">=1.2 <2")`. Fails if the model that was found
  /// has other inputs or outputs than the header.
  template <class M>
  Expected<TypedModel<M>> load(const std::string& name, const std::string& versions = "") const {
    Expected<LoadedModel> model = load(name, versions);
    if (!model) return model.error();
    TypedModel<M> typed(*std::move(model));
    if (Expected<void> fits = typed.check(); !fits) return fits.error();
    return typed;
  }

 private:
  detail::ModelsPlace place_;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
