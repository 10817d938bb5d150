// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/compat_model.h"

#include "negative_rows.h"
#include "tfaot/runtime/error.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace detail {
namespace {

std::string input_name(const Wrapper& wrapper, std::size_t index) {
  return "model '" + wrapper.name() + "': input " + std::to_string(index) + " ('" +
         wrapper.description().inputs[index].name + "')";
}

std::string type_text(DType wanted, DType given) {
  return std::string(" is of type ") + name_of(wanted) + ", not " + name_of(given);
}

}  // namespace

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
