// SPDX-License-Identifier: Apache-2.0
// Rows of different sizes: BatchRunner::run_ragged().
#include <algorithm>
#include <string>

#include "tfaot/runtime/detail/batch_runner.h"
#include "tfaot/runtime/detail/call_check.h"
#include "tfaot/runtime/error.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace {

using Offsets = Span<const std::size_t>;

void set_row(std::vector<std::int64_t>& sizes, std::size_t row, const Offsets* offsets) {
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    sizes[d] = static_cast<std::int64_t>(offsets[d][row + 1] - offsets[d][row]);
  }
}

void check_offsets(const Description& model, std::size_t rows, const Offsets* offsets) {
  for (std::size_t d = 0; d < model.dimension_count; ++d) {
    // The text is made only for an error: a call allocates nothing.
    const auto fail = [&](const std::string& what) {
      throw Error(Category::kInputMismatch, std::string("model '") + model.name +
                                                "': the offsets of '" + model.dimensions[d].name +
                                                "'" + what);
    };
    if (offsets[d].size() != rows + 1) {
      fail(" are " + std::to_string(offsets[d].size()) + ", but " + std::to_string(rows) +
           " rows have " + std::to_string(rows + 1));
    }
    if (offsets[d][0] != 0) fail(" do not begin with 0");
    for (std::size_t row = 0; row < rows; ++row) {
      if (offsets[d][row + 1] < offsets[d][row]) {
        fail(" fall at row " + std::to_string(row));
      }
    }
  }
}

template <class Tensor>
void check_total(const Description& model, const TensorInfo& info, const Tensor& tensor,
                 std::size_t wanted, bool is_input) {
  if (tensor.elements == wanted) return;
  throw Error(is_input ? Category::kInputMismatch : Category::kOutputMismatch,
              std::string("model '") + model.name + "': " + (is_input ? "input '" : "output '") +
                  info.name + "' holds " + std::to_string(tensor.elements) +
                  " elements, but all rows together have " + std::to_string(wanted));
}

}  // namespace

void BatchRunner::run_ragged(std::size_t rows, const Span<const std::size_t>* offsets,
                             const RaggedInput* inputs, const RaggedOutput* outputs) {
  const Description& model = description();
  check_offsets(model, rows, offsets);
  const auto total = [&](const TensorInfo& info) {
    std::size_t elements = 0;
    for (std::size_t row = 0; row < rows; ++row) {
      set_row(next_sizes_, row, offsets);
      elements += row_elements_at(info, next_sizes_.data(), next_sizes_.size());
    }
    return elements;
  };
  for (std::size_t row = 0; row < rows; ++row) {
    set_row(next_sizes_, row, offsets);
    detail::check_sizes(model, next_sizes_.data());
  }
  for (std::size_t i = 0; i < model.input_count; ++i) {
    check_total(model, model.inputs[i], inputs[i], total(model.inputs[i]), true);
    next_inputs_[i] = inputs[i].data;
  }
  for (std::size_t i = 0; i < model.output_count; ++i) {
    check_total(model, model.outputs[i], outputs[i], total(model.outputs[i]), false);
    next_outputs_[i] = outputs[i].data;
  }
  for (std::size_t first = 0; first < rows;) {
    set_row(next_sizes_, first, offsets);
    set_sizes(next_sizes_.data());
    std::size_t end = first + 1;
    for (; end < rows; ++end) {
      set_row(next_sizes_, end, offsets);
      if (next_sizes_ != sizes_) break;
    }
    const std::size_t count = end - first;
    run(count, next_inputs_.data(), next_outputs_.data());
    for (std::size_t i = 0; i < model.input_count; ++i) {
      next_inputs_[i] =
          static_cast<const std::byte*>(next_inputs_[i]) + count * bytes_of_row(model.inputs[i]);
    }
    for (std::size_t i = 0; i < model.output_count; ++i) {
      next_outputs_[i] =
          static_cast<std::byte*>(next_outputs_[i]) + count * bytes_of_row(model.outputs[i]);
    }
    first = end;
  }
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
