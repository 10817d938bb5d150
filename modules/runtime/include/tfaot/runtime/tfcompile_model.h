// SPDX-License-Identifier: Apache-2.0
// The base class of what tfaot-tfcompile generates. The names are TensorFlow's.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tfaot/runtime/detail/instance.h"
#include "tfaot/runtime/detail/tensor_block.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// Base of the classes that tfaot-tfcompile generates, with the calls of the classes that
/// TensorFlow's tfcompile generates: one batch size, and its own memory for arguments and results.
/// Indices are not checked. One object is for one thread at a time; it cannot be moved or copied.
class TfcompileModel {
 public:
  /// What an object allocates.
  enum class AllocMode {
    ARGS_VARIABLES_RESULTS_PROFILES_AND_TEMPS,  ///< arguments have memory from the start
    RESULTS_PROFILES_AND_TEMPS_ONLY,            ///< set arguments with set_arg_data() first
  };

  TfcompileModel(const TfcompileModel&) = delete;
  TfcompileModel& operator=(const TfcompileModel&) = delete;

  /// Runs the arguments into the results. Returns false if an argument has no memory; error_msg()
  /// then says which.
  bool Run();
  /// Why Run() returned false.
  const std::string& error_msg() const noexcept { return error_; }

  /// Number of arguments.
  std::size_t num_args() const noexcept { return args_.size(); }
  /// The memory of all arguments.
  void** args() noexcept { return args_.data(); }
  /// The same, read-only.
  const void* const* args() const noexcept { return args_.data(); }
  /// The memory of one argument.
  void* arg_data(std::size_t index) noexcept { return args_[index]; }
  /// The same, read-only.
  const void* arg_data(std::size_t index) const noexcept { return args_[index]; }
  /// Uses the caller's memory from now on. Run() reads it, or copies it first if it is not aligned
  /// to 16 bytes.
  void set_arg_data(std::size_t index, const void* data) noexcept {
    args_[index] = const_cast<void*>(data);
  }

  /// Number of results.
  std::size_t num_results() const noexcept { return results_.size(); }
  /// The memory of all results.
  void** results() noexcept { return results_.data(); }
  /// The same, read-only.
  const void* const* results() const noexcept { return results_.data(); }
  /// The memory of one result.
  void* result_data(std::size_t index) noexcept { return results_[index]; }
  /// The same, read-only.
  const void* result_data(std::size_t index) const noexcept { return results_[index]; }

  /// Ignored: compiled code runs on the calling thread.
  void set_thread_pool(const void* /*pool*/) noexcept {}

 protected:
  /// Throws Error (UnsupportedCpu). REQUIRES: the description holds one program.
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
