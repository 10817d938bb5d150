// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/compat_model.h"

#include <algorithm>

#include "negative_rows.h"
#include "tfaot/runtime/error.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace detail {
namespace {

constexpr std::int64_t kUnknownSize = -1;

std::string input_name(const Wrapper& wrapper, std::size_t index) {
  return "model '" + wrapper.name() + "': input " + std::to_string(index) + " ('" +
         wrapper.description().inputs[index].name + "')";
}

std::string type_text(DType wanted, DType given) {
  return std::string(" is of type ") + name_of(wanted) + ", not " + name_of(given);
}

// The dimension whose size is the only unknown one of a row of the tensor.
// dimension_count: there is none.
std::size_t only_unknown(const Description& model, const TensorInfo& tensor,
                         const std::vector<std::int64_t>& sizes) {
  std::size_t found = model.dimension_count;
  if (tensor.free_shape == nullptr) return found;
  for (std::size_t d = 0; d < tensor.rank; ++d) {
    const SizeFormula& formula = tensor.free_shape[d];
    for (std::size_t t = 0; t < formula.term_count; ++t) {
      for (std::size_t i = 0; i < model.dimension_count; ++i) {
        if (formula.terms[t].powers[i] == 0 || sizes[i] != kUnknownSize || i == found) continue;
        if (found != model.dimension_count) return model.dimension_count;
        found = i;
      }
    }
  }
  return found;
}

// The one size of the dimension at which a row of the input has so many elements.
void find_size(const Wrapper& wrapper, std::size_t input, std::size_t elements,
               std::size_t dimension, std::vector<std::int64_t>& sizes) {
  const Description& model = wrapper.description();
  const FreeDimension& free = model.dimensions[dimension];
  std::int64_t found = kUnknownSize;
  std::int64_t& size = sizes[dimension];
  for (size = free.smallest; size <= free.largest; ++size) {
    if (row_elements_at(model.inputs[input], sizes.data(), sizes.size()) != elements) continue;
    if (found != kUnknownSize) {
      throw Error(Category::kInputMismatch,
                  input_name(wrapper, input) + " has " + std::to_string(elements) +
                      " elements a row at several sizes of '" + free.name + "'");
    }
    found = size;
  }
  size = found;
  if (found != kUnknownSize) return;
  throw Error(Category::kInputMismatch,
              input_name(wrapper, input) + " holds " + std::to_string(elements) +
                  " elements in row 0, which is no size of '" + free.name + "' from " +
                  std::to_string(free.smallest) + " to " + std::to_string(free.largest));
}

}  // namespace

void infer_sizes(Wrapper& wrapper, const std::size_t* elements) {
  // Most calls have the sizes of the one before.
  if (std::equal(wrapper.argCountsNoBatch().begin(), wrapper.argCountsNoBatch().end(), elements)) {
    return;
  }
  const Description& model = wrapper.description();
  std::vector<std::int64_t> sizes(model.dimension_count, kUnknownSize);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (model.dimensions[i].smallest == model.dimensions[i].largest) {
      sizes[i] = model.dimensions[i].largest;
    }
  }
  for (bool is_new = true; is_new;) {
    is_new = false;
    for (std::size_t i = 0; i < model.input_count; ++i) {
      const std::size_t dimension = only_unknown(model, model.inputs[i], sizes);
      if (dimension == model.dimension_count) continue;
      find_size(wrapper, i, elements[i], dimension, sizes);
      is_new = true;
    }
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] != kUnknownSize) continue;
    throw Error(Category::kInputMismatch,
                "model '" + wrapper.name() + "': the lengths of the inputs leave the size of '" +
                    model.dimensions[i].name + "' open; use tfaot::native::Model");
  }
  wrapper.setSizes(sizes);
}

void check_counts(const Wrapper& wrapper, std::size_t input_count, std::size_t output_count) {
  // The text is made only for an error: a call allocates nothing but its outputs.
  const auto who = [&] { return "model '" + wrapper.name() + "'"; };
  if (input_count != wrapper.nArgs()) {
    throw Error(Category::kInputMismatch, who() + " takes " + std::to_string(wrapper.nArgs()) +
                                              " inputs, not " + std::to_string(input_count));
  }
  if (output_count != wrapper.nResults()) {
    throw Error(Category::kOutputMismatch, who() + " gives " + std::to_string(wrapper.nResults()) +
                                               " outputs, not " + std::to_string(output_count));
  }
}

void check_input(const Wrapper& wrapper, std::size_t index, DType dtype) {
  const DType wanted = wrapper.description().inputs[index].dtype;
  if (wanted == dtype) return;
  throw Error(Category::kInputMismatch, input_name(wrapper, index) + type_text(wanted, dtype));
}

void check_output(const Wrapper& wrapper, std::size_t index, DType dtype) {
  const TensorInfo& info = wrapper.description().outputs[index];
  if (info.dtype == dtype) return;
  throw Error(Category::kOutputMismatch, "model '" + wrapper.name() + "': output " +
                                             std::to_string(index) + " ('" + info.name + "')" +
                                             type_text(info.dtype, dtype));
}

void check_rows(const Wrapper& wrapper, const RowCheck& check, std::size_t rows) {
  if (rows == check.batch_size) return;
  const std::string negative = negative_rows_message(wrapper.name(), check.batch_size);
  if (!negative.empty()) throw Error(Category::kInputMismatch, negative);
  throw Error(Category::kInputMismatch, input_name(wrapper, check.input) + " holds " +
                                            std::to_string(rows) + " rows, but the batch size is " +
                                            std::to_string(check.batch_size));
}

void check_row(const Wrapper& wrapper, const RowCheck& check, std::size_t row,
               std::size_t elements) {
  const std::size_t wanted = wrapper.argCountsNoBatch()[check.input];
  if (elements == wanted) return;
  throw Error(Category::kInputMismatch, input_name(wrapper, check.input) + " holds " +
                                            std::to_string(elements) + " elements in row " +
                                            std::to_string(row) + ", but " +
                                            std::to_string(wanted) + " are expected");
}

}  // namespace detail
}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
