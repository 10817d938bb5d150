// SPDX-License-Identifier: Apache-2.0
// Runs any number of rows on an Instance: by a rule of the user, else in chunks by the BatchPlan,
// which runs most compiled sizes in one chunk. Chunks work in place on the caller's memory. Only
// padded chunks, and memory that is not aligned to kMinAlignment, use staging memory, which is
// allocated on first use and then kept. run() allocates nothing else. Thread-compatible: one runner
// per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tfaot/runtime/batch_plan.h"
#include "tfaot/runtime/batching.h"
#include "tfaot/runtime/detail/instance.h"
#include "tfaot/runtime/detail/tensor.h"
#include "tfaot/runtime/detail/tensor_block.h"
#include "tfaot/runtime/span.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

class BatchRunner {
 public:
  // Throws Error (UnsupportedCpu, EmptySizes). `description` must outlive the runner.
  explicit BatchRunner(const Description& description, const CpuChoice& cpu = this_cpu());

  // In the source, so that no other object of the runtime holds them.
  BatchRunner(BatchRunner&& other) noexcept;
  BatchRunner& operator=(BatchRunner&& other) noexcept;
  ~BatchRunner();

  // Another runner with the same code and plan, but with its own memory and without rules.
  BatchRunner sibling() const { return {*this, Sibling()}; }

  const Description& description() const noexcept { return instance_.description(); }
  const Instance& instance() const noexcept { return instance_; }
  const std::vector<std::size_t>& batch_sizes() const noexcept { return plan_.sizes(); }

  const BatchPlan& plan() const noexcept { return plan_; }
  // Instance::share_kernels().
  void share_kernels(Tasks* tasks) noexcept { instance_.share_kernels(tasks); }
  // Allocates the staging memory now; then run() allocates nothing.
  void make_staging();
  // The same, and touches all memory that batches of `rows` rows use, so that the system has given
  // it before the first call.
  void prepare(std::size_t rows);

  // The sizes of the free dimensions in the calls from now on, one for each; before, they are the
  // largest. Throws Error (SizeOutOfRange).
  void set_sizes(const std::int64_t* sizes);
  void set_largest_sizes() noexcept;
  const std::vector<std::int64_t>& sizes() const noexcept { return sizes_; }
  // Elements of a row at these sizes.
  std::size_t row_elements(const TensorInfo& tensor) const noexcept {
    return row_elements_at(tensor, sizes_.data(), sizes_.size());
  }
  std::size_t bytes_of_row(const TensorInfo& tensor) const noexcept {
    return row_elements(tensor) * size_of(tensor.dtype);
  }

  // Throws Error: UnknownBatchSize if a rule uses a size that is not compiled, InvalidBatchRule if
  // it composes a batch of coupled rows.
  void set_strategy(const BatchStrategy& strategy);
  void set_rule(const BatchRule& rule);
  const BatchStrategy& strategy() const noexcept { return strategy_; }

  // inputs[i] and outputs[i] hold `rows` rows each, row-major, of any alignment. Outputs must not
  // overlap each other or an input. Nothing happens for 0 rows. Throws Error (UnknownBatchSize) if
  // rows are coupled and the number is not compiled.
  void run(std::size_t rows, const void* const* inputs, void* const* outputs) {
    const std::size_t program = plan_.next(rows);
    if (plan_.sizes()[program] == rows && strategy_.rules().empty() && sizes_.empty() &&
        aligned(inputs, description().input_count) &&
        aligned(outputs, description().output_count)) {
      return instance_.run(program, inputs, outputs);
    }
    compose(rows, inputs, outputs);
  }

  // All rows of a tensor, of any alignment.
  static constexpr std::size_t kAnyElements = SIZE_MAX;  // the caller does not know how many
  struct RaggedInput {
    const void* data = nullptr;
    std::size_t elements = 0;
  };
  struct RaggedOutput {
    void* data = nullptr;
    std::size_t elements = 0;
  };
  // Rows of different sizes, one after another without padding. `offsets`, for each free dimension:
  // rows + 1 of them; row i has the size offsets[i + 1] - offsets[i].
  struct RaggedCall {
    std::size_t rows;
    const Span<const std::size_t>* offsets;
    const RaggedInput* inputs;
    const RaggedOutput* outputs;
  };
  // Rows of equal sizes that follow each other run together. Throws Error before anything runs:
  // SizeOutOfRange, InputMismatch, OutputMismatch, UnknownBatchSize.
  void run_ragged(const RaggedCall& call);
  // Its parts, for threads that share the rows of one call. check_ragged() throws as above.
  // begin_ragged() goes to row 0. run_ragged_rows() goes on to `first`, and runs the rows before
  // `last`. REQUIRES: the call was checked, and `first` is no row before those that were run.
  void check_ragged(const RaggedCall& call);
  void begin_ragged(const RaggedCall& call) noexcept;
  void run_ragged_rows(const RaggedCall& call, std::size_t first, std::size_t last);

 private:
  // Rows first .. first + rows of the caller's memory, run as programs[program].
  struct Chunk {
    std::size_t program;
    std::size_t first;
    std::size_t rows;
  };

  struct Sibling {};
  BatchRunner(const BatchRunner& like, Sibling);

  template <class Pointer>
  static bool aligned(const Pointer* data, std::size_t count) noexcept {
    std::uintptr_t bits = 0;
    for (std::size_t i = 0; i < count; ++i) bits |= reinterpret_cast<std::uintptr_t>(data[i]);
    return bits % kMinAlignment == 0;
  }

  void find_row_bytes() noexcept;
  std::size_t find_program(std::size_t batch_size) const noexcept;  // program count if not compiled
  void compose(std::size_t rows, const void* const* inputs, void* const* outputs);
  void run_rule(const BatchRule& rule, const void* const* inputs, void* const* outputs);
  void run_plan(std::size_t rows, const void* const* inputs, void* const* outputs);
  void run_chunk(const Chunk& chunk, const void* const* inputs, void* const* outputs);
  // Goes on by `rows` rows, which have next_sizes_.
  void skip_ragged(std::size_t rows) noexcept;

  Instance instance_;
  BatchPlan plan_;
  BatchStrategy strategy_;
  TensorBlock staged_inputs_;  // both for the largest batch size, empty until needed
  TensorBlock staged_outputs_;
  std::vector<std::int64_t> sizes_;       // of the free dimensions
  std::size_t next_row_ = 0;              // of a ragged call
  std::vector<std::int64_t> next_sizes_;  // of it
  std::vector<const void*> next_inputs_;  // where it begins
  std::vector<void*> next_outputs_;
  std::vector<std::size_t> input_bytes_;  // of a row, at sizes_
  std::vector<std::size_t> output_bytes_;
  std::vector<const void*> chunk_inputs_;
  std::vector<void*> chunk_outputs_;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
