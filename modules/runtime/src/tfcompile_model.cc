// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/tfcompile_model.h"

#include <cstdint>
#include <cstring>

#include "tfaot/runtime/detail/tensor.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace {

bool is_aligned(const void* data) {
  return reinterpret_cast<std::uintptr_t>(data) % kMinAlignment == 0;
}

}  // namespace

TfcompileModel::TfcompileModel(const Description& description, AllocMode mode)
    : instance_(description),
      arg_memory_(description.inputs, description.input_count, rows()),
      result_memory_(description.outputs, description.output_count, rows()),
      aligned_args_(description.input_count) {
  for (std::size_t i = 0; i < description.input_count; ++i) {
    const bool own = mode == AllocMode::ARGS_VARIABLES_RESULTS_PROFILES_AND_TEMPS;
    args_.push_back(own ? arg_memory_.data(i) : nullptr);
  }
  for (std::size_t i = 0; i < description.output_count; ++i) {
    results_.push_back(result_memory_.data(i));
  }
}

bool TfcompileModel::Run() {
  const Description& description = instance_.description();
  error_.clear();
  for (std::size_t i = 0; i < args_.size(); ++i) {
    const std::size_t bytes = rows() * row_bytes(description.inputs[i]);
    if (args_[i] == nullptr && bytes != 0) {
      error_ = "argument " + std::to_string(i) + " of '" + description.name +
               "' has no memory: call set_arg" + std::to_string(i) + "_data() first";
      return false;
    }
    aligned_args_[i] = args_[i];
    if (!is_aligned(args_[i])) {
      std::memcpy(arg_memory_.data(i), args_[i], bytes);
      aligned_args_[i] = arg_memory_.data(i);
    }
  }
  instance_.run(0, aligned_args_.data(), results_.data());
  return true;
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
