// SPDX-License-Identifier: Apache-2.0
// Rows of different sizes: BatchRunner::run_ragged() and its parts.
#include <algorithm>
#include <string>

#include "tfaot/runtime/detail/batch_runner.h"
#include "tfaot/runtime/detail/call_check.h"
#include "tfaot/runtime/error.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace {

using RaggedCall = BatchRunner::RaggedCall;

std::size_t size_of_row(const Span<const std::size_t>& offsets, std::size_t row) noexcept {
  return offsets[row + 1] - offsets[row];
}

void set_row(std::vector<std::int64_t>& sizes, const RaggedCall& call, std::size_t row) noexcept {
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    sizes[d] = static_cast<std::int64_t>(size_of_row(call.offsets[d], row));
  }
}

// The first row after `first` that has other sizes, or `last`.
std::size_t end_of_equal_rows(const Description& model, const RaggedCall& call, std::size_t first,
                              std::size_t last) noexcept {
  const auto is_equal = [&](std::size_t row) {
    for (std::size_t d = 0; d < model.dimension_count; ++d) {
      if (size_of_row(call.offsets[d], row) != size_of_row(call.offsets[d], first)) return false;
    }
    return true;
  };
  std::size_t end = first + 1;
  while (end < last && is_equal(end)) ++end;
  return end;
}

void check_offsets(const Description& model, const RaggedCall& call) {
  for (std::size_t d = 0; d < model.dimension_count; ++d) {
    const Span<const std::size_t>& offsets = call.offsets[d];
    // The text is made only for an error: a call allocates nothing.
    const auto fail = [&](const std::string& what) {
      throw Error(Category::kInputMismatch, std::string("model '") + model.name +
                                                "': the offsets of '" + model.dimensions[d].name +
                                                "'" + what);
    };
    if (offsets.size() != call.rows + 1) {
      fail(" are " + std::to_string(offsets.size()) + ", but " + std::to_string(call.rows) +
           " rows have " + std::to_string(call.rows + 1));
    }
    if (offsets[0] != 0) fail(" do not begin with 0");
    for (std::size_t row = 0; row < call.rows; ++row) {
      if (offsets[row + 1] < offsets[row]) fail(" fall at row " + std::to_string(row));
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

void BatchRunner::run_ragged(const RaggedCall& call) {
  check_ragged(call);
  begin_ragged(call);
  run_ragged_rows(call, 0, call.rows);
}

void BatchRunner::check_ragged(const RaggedCall& call) {
  const Description& model = description();
  check_offsets(model, call);
  for (std::size_t row = 0; row < call.rows; ++row) {
    set_row(next_sizes_, call, row);
    detail::check_sizes(model, next_sizes_.data());
  }
  for (std::size_t row = 0; !plan_.composes() && row < call.rows;) {
    const std::size_t end = end_of_equal_rows(model, call, row, call.rows);
    plan_.check(end - row, model.name);
    row = end;
  }
  const auto check = [&](const TensorInfo& info, const auto& tensor, bool is_input) {
    if (tensor.elements == kAnyElements) return;
    std::size_t elements = 0;
    for (std::size_t row = 0; row < call.rows; ++row) {
      set_row(next_sizes_, call, row);
      elements += row_elements_at(info, next_sizes_.data(), next_sizes_.size());
    }
    check_total(model, info, tensor, elements, is_input);
  };
  for (std::size_t i = 0; i < model.input_count; ++i) check(model.inputs[i], call.inputs[i], true);
  for (std::size_t i = 0; i < model.output_count; ++i) {
    check(model.outputs[i], call.outputs[i], false);
  }
}

void BatchRunner::begin_ragged(const RaggedCall& call) noexcept {
  next_row_ = 0;
  for (std::size_t i = 0; i < next_inputs_.size(); ++i) next_inputs_[i] = call.inputs[i].data;
  for (std::size_t i = 0; i < next_outputs_.size(); ++i) next_outputs_[i] = call.outputs[i].data;
}

void BatchRunner::run_ragged_rows(const RaggedCall& call, std::size_t first, std::size_t last) {
  while (next_row_ < last) {
    const bool runs = next_row_ >= first;
    const std::size_t end = end_of_equal_rows(description(), call, next_row_, runs ? last : first);
    set_row(next_sizes_, call, next_row_);
    if (runs) {
      set_sizes(next_sizes_.data());
      run(end - next_row_, next_inputs_.data(), next_outputs_.data());
    }
    skip_ragged(end - next_row_);
  }
}

void BatchRunner::skip_ragged(std::size_t rows) noexcept {
  const Description& model = description();
  const auto bytes = [&](const TensorInfo& info) {
    return rows * row_elements_at(info, next_sizes_.data(), next_sizes_.size()) *
           size_of(info.dtype);
  };
  for (std::size_t i = 0; i < model.input_count; ++i) {
    next_inputs_[i] = static_cast<const std::byte*>(next_inputs_[i]) + bytes(model.inputs[i]);
  }
  for (std::size_t i = 0; i < model.output_count; ++i) {
    next_outputs_[i] = static_cast<std::byte*>(next_outputs_[i]) + bytes(model.outputs[i]);
  }
  next_row_ += rows;
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
