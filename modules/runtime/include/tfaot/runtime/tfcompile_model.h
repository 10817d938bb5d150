// SPDX-License-Identifier: Apache-2.0
// Base of the classes that tfaot-tfcompile generates, with the calls of the classes that
// TensorFlow's tfcompile generates: one batch size, memory of its own for arguments and results.
// Thread-compatible: one per thread. The names are TensorFlow's.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tfaot/runtime/instance.h"
#include "tfaot/runtime/tensor_block.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

class TfcompileModel {
 public:
  enum class AllocMode {
    ARGS_VARIABLES_RESULTS_PROFILES_AND_TEMPS,  // arguments have memory at once
    RESULTS_PROFILES_AND_TEMPS_ONLY,            // arguments are set by set_arg_data() first
  };

  TfcompileModel(const TfcompileModel&) = delete;
  TfcompileModel& operator=(const TfcompileModel&) = delete;

  // False when an argument has no memory; error_msg() then says which.
  bool Run();
  const std::string& error_msg() const noexcept { return error_; }

  std::size_t num_args() const noexcept { return args_.size(); }
  void** args() noexcept { return args_.data(); }
  const void* const* args() const noexcept { return args_.data(); }
  void* arg_data(std::size_t index) noexcept { return args_[index]; }
  const void* arg_data(std::size_t index) const noexcept { return args_[index]; }
  // The memory of the caller is used from now on. It is read in Run(), and copied there when it is
  // not aligned to kMinAlignment.
  void set_arg_data(std::size_t index, const void* data) noexcept {
    args_[index] = const_cast<void*>(data);
  }

  std::size_t num_results() const noexcept { return results_.size(); }
  void** results() noexcept { return results_.data(); }
  const void* const* results() const noexcept { return results_.data(); }
  void* result_data(std::size_t index) noexcept { return results_[index]; }
  const void* result_data(std::size_t index) const noexcept { return results_[index]; }

  // Compiled code runs on the caller's thread.
  void set_thread_pool(const void* /*pool*/) noexcept {}

 protected:
  // Throws Error (UnsupportedCpu). REQUIRES: the description holds one program.
  TfcompileModel(const Description& description, AllocMode mode);
  ~TfcompileModel() = default;

 private:
  std::size_t rows() const noexcept { return instance_.description().programs[0].batch_size; }

  Instance instance_;
  TensorBlock arg_memory_;
  TensorBlock result_memory_;
  std::vector<void*> args_;
  std::vector<void*> results_;
  std::vector<const void*> aligned_args_;
  std::string error_;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
