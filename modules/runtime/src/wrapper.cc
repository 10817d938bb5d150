// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/wrapper.h"

#include <algorithm>
#include <utility>

#include "tfaot/runtime/detail/call_check.h"
#include "tfaot/runtime/error.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace {

// Of one row at these sizes, and of a batch.
void count(const TensorInfo* infos, const std::vector<std::int64_t>& sizes,
           std::vector<std::size_t>& rows, std::map<std::size_t, std::vector<std::size_t>>& all) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = row_elements_at(infos[i], sizes.data(), sizes.size());
    for (auto& [batch_size, counts] : all) counts[i] = rows[i] * batch_size;
  }
}

[[noreturn]] void unknown(Category category, const Wrapper& wrapper, const std::string& what,
                          const char* method) {
  throw Error(category,
              what + " not known to model '" + wrapper.name() + "' in '" + method + "()'");
}

[[noreturn]] void wrong_type(Category category, const Wrapper& wrapper, const TensorInfo& info,
                             DType dtype) {
  throw Error(category, "model '" + wrapper.name() + "': '" + info.name + "' is of type " +
                            name_of(info.dtype) + ", not " + name_of(dtype));
}

}  // namespace

Wrapper::Wrapper(const Description& description, std::string name)
    : instance_(description),
      batch_plan_(instance_.batch_plan()),
      name_(std::move(name)),
      sizes_(largest_sizes(description)),
      arg_rows_(description.input_count),
      result_rows_(description.output_count) {
  for (std::size_t i = 0; i < description.program_count; ++i) {
    const std::size_t size = description.programs[i].batch_size;
    batch_sizes_.push_back(size);
    arg_counts_.emplace(size, arg_rows_);
    result_counts_.emplace(size, result_rows_);
    args_.emplace_back(description.inputs, description.input_count, size);
    results_.emplace_back(description.outputs, description.output_count, size);
  }
  count_elements();
}

void Wrapper::count_elements() {
  count(description().inputs, sizes_, arg_rows_, arg_counts_);
  count(description().outputs, sizes_, result_rows_, result_counts_);
}

void Wrapper::setSizes(const std::vector<std::int64_t>& sizes) {
  detail::check_sizes(description(), sizes.data());
  std::copy(sizes.begin(), sizes.end(), sizes_.begin());
  instance_.set_sizes(sizes_.data());
  count_elements();
}

bool Wrapper::hasBatchSize(std::size_t batchSize) const noexcept {
  return std::binary_search(batch_sizes_.begin(), batch_sizes_.end(), batchSize);
}

int Wrapper::argCount(std::size_t batchSize, std::size_t argIndex) const {
  program_of(batchSize, "argCount");
  check_arg(argIndex, "argCount");
  return static_cast<int>(arg_counts_.at(batchSize)[argIndex]);
}

int Wrapper::argCountNoBatch(std::size_t argIndex) const {
  check_arg(argIndex, "argCountNoBatch");
  return static_cast<int>(arg_rows_[argIndex]);
}

int Wrapper::resultCount(std::size_t batchSize, std::size_t resultIndex) const {
  program_of(batchSize, "resultCount");
  check_result(resultIndex, "resultCount");
  return static_cast<int>(result_counts_.at(batchSize)[resultIndex]);
}

int Wrapper::resultCountNoBatch(std::size_t resultIndex) const {
  check_result(resultIndex, "resultCountNoBatch");
  return static_cast<int>(result_rows_[resultIndex]);
}

bool Wrapper::runSilent(std::size_t batchSize) {
  const std::size_t program = program_of(batchSize, "runSilent");
  instance_.run(program, args_[program].pointers(), results_[program].pointers());
  return true;
}

void Wrapper::run(std::size_t batchSize) {
  if (runSilent(batchSize)) return;
  throw Error(Category::kFailedRun, "evaluation of model '" + name_ + "' with batch size " +
                                        std::to_string(batchSize) + " failed");
}

void Wrapper::run(std::size_t batchSize, std::size_t rows) {
  const std::size_t program = program_of(batchSize, "run");
  instance_.run(program, args_[program].pointers(), results_[program].pointers(), rows);
}

std::size_t Wrapper::program_of(std::size_t batch_size, const char* method) const {
  const auto found = std::lower_bound(batch_sizes_.begin(), batch_sizes_.end(), batch_size);
  if (found == batch_sizes_.end() || *found != batch_size) {
    unknown(Category::kUnknownBatchSize, *this, "batch size " + std::to_string(batch_size), method);
  }
  return static_cast<std::size_t>(found - batch_sizes_.begin());
}

void Wrapper::check_arg(std::size_t index, const char* method) const {
  if (index < nArgs()) return;
  unknown(Category::kUnknownArgument, *this, "argument " + std::to_string(index), method);
}

void Wrapper::check_result(std::size_t index, const char* method) const {
  if (index < nResults()) return;
  unknown(Category::kUnknownResult, *this, "result " + std::to_string(index), method);
}

void* Wrapper::arg_memory(std::size_t batch_size, std::size_t index, DType dtype) const {
  const std::size_t program = program_of(batch_size, "argData");
  check_arg(index, "argData");
  const TensorInfo& info = description().inputs[index];
  if (info.dtype != dtype) wrong_type(Category::kInputMismatch, *this, info, dtype);
  return args_[program].data(index);
}

void* Wrapper::result_memory(std::size_t batch_size, std::size_t index, DType dtype) const {
  const std::size_t program = program_of(batch_size, "resultData");
  check_result(index, "resultData");
  const TensorInfo& info = description().outputs[index];
  if (info.dtype != dtype) wrong_type(Category::kOutputMismatch, *this, info, dtype);
  return results_[program].data(index);
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
