// SPDX-License-Identifier: Apache-2.0
// Base of the generated classes, with the calls of CMSSW's tfaot::Wrapper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tfaot/runtime/detail/instance.h"
#include "tfaot/runtime/detail/tensor.h"
#include "tfaot/runtime/detail/tensor_block.h"
#include "tfaot/runtime/util.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// A model with its own memory for the arguments and results of every compiled batch size; base of
/// the class in `model.h`. It has the calls of CMSSW's tfaot::Wrapper. Most code uses a model class
/// around it instead: native::Model, or Model.
///
/// One wrapper is for one thread at a time. Wrappers can be moved, not copied; pointers to their
/// memory stay valid.
class Wrapper {
 public:
  /// `description` must outlive the wrapper. Errors call it `name`. Throws Error (UnsupportedCpu).
  explicit Wrapper(const Description& description, std::string name);
  /// The same with the model's own name.
  explicit Wrapper(const Description& description) : Wrapper(description, description.name) {}
  /// Pointers to the memory stay valid.
  Wrapper(Wrapper&&) = default;
  /// Pointers to the memory stay valid.
  Wrapper& operator=(Wrapper&&) = default;
  Wrapper(const Wrapper&) = delete;
  Wrapper& operator=(const Wrapper&) = delete;
  virtual ~Wrapper() = default;

  /// The tables of the model.
  const Description& description() const noexcept { return instance_.description(); }
  /// The name that errors use.
  const std::string& name() const noexcept { return name_; }
  /// Name, version number and hash of the package, and the CPU level in use.
  ModelRecord record() const noexcept {
    return detail::record_of(description(), instance_.cpu_level(0));
  }
  /// Arguments have memory, as in every wrapper of CMSSW.
  AllocMode allocMode() const noexcept {
    return AllocMode::ARGS_VARIABLES_RESULTS_PROFILES_AND_TEMPS;
  }

  /// The compiled batch sizes, ascending.
  const std::vector<std::size_t>& batchSizes() const noexcept { return batch_sizes_; }
  /// How many batch sizes are compiled.
  std::size_t nBatchSizes() const noexcept { return batch_sizes_.size(); }
  /// True if this batch size is compiled.
  bool hasBatchSize(std::size_t batchSize) const noexcept;
  /// Composes any number of rows of them at the lowest cost, if composing is allowed.
  const BatchPlan& batchPlan() const noexcept { return batch_plan_; }

  /// Number of arguments, which are the model's inputs.
  std::size_t nArgs() const noexcept { return description().input_count; }
  /// Elements of each argument, by batch size.
  const std::map<std::size_t, std::vector<std::size_t>>& argCounts() const noexcept {
    return arg_counts_;
  }
  /// Elements of one row of each argument.
  const std::vector<std::size_t>& argCountsNoBatch() const noexcept { return arg_rows_; }
  /// Elements of one argument. Throws Error: UnknownBatchSize, UnknownArgument.
  int argCount(std::size_t batchSize, std::size_t argIndex) const;
  /// Elements of one row of one argument. Throws Error (UnknownArgument).
  int argCountNoBatch(std::size_t argIndex) const;

  /// Number of results, which are the model's outputs.
  std::size_t nResults() const noexcept { return description().output_count; }
  /// Elements of each result, by batch size.
  const std::map<std::size_t, std::vector<std::size_t>>& resultCounts() const noexcept {
    return result_counts_;
  }
  /// Elements of one row of each result.
  const std::vector<std::size_t>& resultCountsNoBatch() const noexcept { return result_rows_; }
  /// Elements of one result. Throws Error: UnknownBatchSize, UnknownResult.
  int resultCount(std::size_t batchSize, std::size_t resultIndex) const;
  /// Elements of one row of one result. Throws Error (UnknownResult).
  int resultCountNoBatch(std::size_t resultIndex) const;

  /// Memory of one argument: argCount() elements. Throws Error: InputMismatch if T is not its type;
  /// UnknownBatchSize, UnknownArgument.
  template <class T>
  T* argData(std::size_t batchSize, std::size_t argIndex) {
    return static_cast<T*>(arg_memory(batchSize, argIndex, kDTypeOf<T>));
  }
  /// The same, read-only.
  template <class T>
  const T* argData(std::size_t batchSize, std::size_t argIndex) const {
    return static_cast<const T*>(arg_memory(batchSize, argIndex, kDTypeOf<T>));
  }
  /// Memory of one result: resultCount() elements. Throws Error: OutputMismatch if T is not its
  /// type; UnknownBatchSize, UnknownResult.
  template <class T>
  T* resultData(std::size_t batchSize, std::size_t resultIndex) {
    return static_cast<T*>(result_memory(batchSize, resultIndex, kDTypeOf<T>));
  }
  /// The same, read-only.
  template <class T>
  const T* resultData(std::size_t batchSize, std::size_t resultIndex) const {
    return static_cast<const T*>(result_memory(batchSize, resultIndex, kDTypeOf<T>));
  }

  /// The sizes of the free dimensions (`compilation.dimensions`) in the calls from now on, in the
  /// order of description().dimensions; before, they are the largest. Counts of elements are those
  /// at these sizes; memory is for the largest. Throws Error (SizeOutOfRange). CMSSW's has no such
  /// call. REQUIRES: there is one for each dimension.
  void setSizes(const std::vector<std::int64_t>& sizes);
  /// The sizes of the free dimensions.
  const std::vector<std::int64_t>& sizes() const noexcept { return sizes_; }

  /// Runs the arguments of a batch size into its results. Always true: compiled code cannot fail.
  /// Throws Error (UnknownBatchSize).
  bool runSilent(std::size_t batchSize);
  /// The same. Throws Error: UnknownBatchSize; FailedRun if runSilent() returns false.
  void run(std::size_t batchSize);
  /// The same if only the first `rows` rows count; the other results are undefined. REQUIRES:
  /// `rows` is positive and at most `batchSize`.
  void run(std::size_t batchSize, std::size_t rows);

 private:
  std::size_t program_of(std::size_t batch_size, const char* method) const;
  void check_arg(std::size_t index, const char* method) const;
  void check_result(std::size_t index, const char* method) const;
  void count_elements();
  void* arg_memory(std::size_t batch_size, std::size_t index, DType dtype) const;
  void* result_memory(std::size_t batch_size, std::size_t index, DType dtype) const;

  Instance instance_;
  BatchPlan batch_plan_;
  std::string name_;
  std::vector<std::size_t> batch_sizes_;
  std::vector<std::int64_t> sizes_;  // of the free dimensions
  std::vector<std::size_t> arg_rows_;
  std::vector<std::size_t> result_rows_;
  std::map<std::size_t, std::vector<std::size_t>> arg_counts_;
  std::map<std::size_t, std::vector<std::size_t>> result_counts_;
  std::vector<TensorBlock> args_;  // by program
  std::vector<TensorBlock> results_;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
