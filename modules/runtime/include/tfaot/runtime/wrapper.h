// SPDX-License-Identifier: Apache-2.0
// Base of the generated classes, with the calls of CMSSW's tfaot::Wrapper: a model with memory of
// its own for the arguments and results of every compiled batch size. Thread-compatible: one per
// thread. Movable; pointers stay valid.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tfaot/runtime/instance.h"
#include "tfaot/runtime/tensor.h"
#include "tfaot/runtime/tensor_block.h"
#include "tfaot/runtime/util.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

class Wrapper {
 public:
  // Throws Error (UnsupportedCpu). `description` must outlive the wrapper. Errors call it `name`.
  explicit Wrapper(const Description& description, std::string name);
  explicit Wrapper(const Description& description) : Wrapper(description, description.name) {}
  Wrapper(Wrapper&&) = default;
  Wrapper& operator=(Wrapper&&) = default;
  Wrapper(const Wrapper&) = delete;
  Wrapper& operator=(const Wrapper&) = delete;
  virtual ~Wrapper() = default;

  const Description& description() const noexcept { return instance_.description(); }
  const std::string& name() const noexcept { return name_; }
  // Arguments have memory, as those of every wrapper in CMSSW.
  AllocMode allocMode() const noexcept {
    return AllocMode::ARGS_VARIABLES_RESULTS_PROFILES_AND_TEMPS;
  }

  // Ascending.
  const std::vector<std::size_t>& batchSizes() const noexcept { return batch_sizes_; }
  std::size_t nBatchSizes() const noexcept { return batch_sizes_.size(); }
  bool hasBatchSize(std::size_t batchSize) const noexcept;
  // How any number of rows is composed of them at the least cost, if it may be.
  const BatchPlan& batchPlan() const noexcept { return batch_plan_; }

  // Numbers of elements, by batch size and index, or of one row by index. The calls with an index
  // throw Error: UnknownBatchSize, UnknownArgument, UnknownResult.
  std::size_t nArgs() const noexcept { return description().input_count; }
  const std::map<std::size_t, std::vector<std::size_t>>& argCounts() const noexcept {
    return arg_counts_;
  }
  const std::vector<std::size_t>& argCountsNoBatch() const noexcept { return arg_rows_; }
  int argCount(std::size_t batchSize, std::size_t argIndex) const;
  int argCountNoBatch(std::size_t argIndex) const;

  std::size_t nResults() const noexcept { return description().output_count; }
  const std::map<std::size_t, std::vector<std::size_t>>& resultCounts() const noexcept {
    return result_counts_;
  }
  const std::vector<std::size_t>& resultCountsNoBatch() const noexcept { return result_rows_; }
  int resultCount(std::size_t batchSize, std::size_t resultIndex) const;
  int resultCountNoBatch(std::size_t resultIndex) const;

  // Memory of one argument or result, argCount() or resultCount() elements. T is checked: Error
  // (InputMismatch, OutputMismatch); and as above.
  template <class T>
  T* argData(std::size_t batchSize, std::size_t argIndex) {
    return static_cast<T*>(arg_memory(batchSize, argIndex, kDTypeOf<T>));
  }
  template <class T>
  const T* argData(std::size_t batchSize, std::size_t argIndex) const {
    return static_cast<const T*>(arg_memory(batchSize, argIndex, kDTypeOf<T>));
  }
  template <class T>
  T* resultData(std::size_t batchSize, std::size_t resultIndex) {
    return static_cast<T*>(result_memory(batchSize, resultIndex, kDTypeOf<T>));
  }
  template <class T>
  const T* resultData(std::size_t batchSize, std::size_t resultIndex) const {
    return static_cast<const T*>(result_memory(batchSize, resultIndex, kDTypeOf<T>));
  }

  // Throws Error (UnknownBatchSize). True: compiled code has no way to fail.
  bool runSilent(std::size_t batchSize);
  // The same; throws Error (FailedRun) when runSilent() is false.
  void run(std::size_t batchSize);
  // The first `rows` rows alone count; what the others give is undefined. REQUIRES: rows is
  // positive and at most batchSize.
  void run(std::size_t batchSize, std::size_t rows);

 private:
  std::size_t program_of(std::size_t batch_size, const char* method) const;
  void check_arg(std::size_t index, const char* method) const;
  void check_result(std::size_t index, const char* method) const;
  void* arg_memory(std::size_t batch_size, std::size_t index, DType dtype) const;
  void* result_memory(std::size_t batch_size, std::size_t index, DType dtype) const;

  Instance instance_;
  BatchPlan batch_plan_;
  std::string name_;
  std::vector<std::size_t> batch_sizes_;
  std::vector<std::size_t> arg_rows_;
  std::vector<std::size_t> result_rows_;
  std::map<std::size_t, std::vector<std::size_t>> arg_counts_;
  std::map<std::size_t, std::vector<std::size_t>> result_counts_;
  std::vector<TensorBlock> args_;  // by program
  std::vector<TensorBlock> results_;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
