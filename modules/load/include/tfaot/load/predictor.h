// SPDX-License-Identifier: Apache-2.0
// Runs a LoadedModel as a plugin would: the runtime chooses the level, splits batches and pads
// them. Its exceptions become Errors here. One thread per Predictor; siblings share code, weights
// and plan.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tfaot/base/result.h"
#include "tfaot/load/loaded_model.h"
#include "tfaot/runtime/detail/batch_runner.h"
#include "tfaot/runtime/detail/kernel_tasks.h"
#include "tfaot/runtime/detail/parallel_runner.h"

namespace tfaot::toolkit {

struct PredictorOptions {
  std::string cpu_level;                 // empty: the best one for this CPU, or $TFAOT_CPU_LEVEL
  std::vector<std::string> batch_rules;  // such as "5:2,4": a batch of 5 as one of 2, one of 4
};

// What threads share of a call.
enum class Shared { kRows, kKernels };

class Predictor {
 public:
  // Error: the package has no such level, this CPU cannot run it, or a rule is wrong.
  static Result<Predictor> create(std::shared_ptr<const LoadedModel> model,
                                  const PredictorOptions& options);
  // Another one with its own memory, for another thread.
  Predictor sibling() const;

  const LoadedModel& model() const { return *model_; }
  // From now on so many threads share each call, even if it is too small to gain from them. Rules
  // are then left out. Starts the threads anew each time: not for measuring.
  void share(Shared shared, std::size_t threads);
  // All on the calling thread again.
  void share_nothing();

  // The level in use, "x86-64-v3".
  std::string cpu_level() const { return runner_.instance().cpu_level(0); }
  const ::tfaot::BatchPlan& plan() const { return runner_.plan(); }

  // inputs[i] and outputs[i] point to `rows` rows each, row-major, in the order of the signature;
  // outputs overlap nothing. `sizes`: of each free dimension, those of all rows; null: the largest.
  // Error: rows are coupled and their number is not compiled; a size is out of its range.
  Status run(std::uint64_t rows, const std::vector<const void*>& inputs,
             const std::vector<void*>& outputs, const std::int64_t* sizes = nullptr);

  // Rows of different sizes: BatchRunner::run_ragged().
  Status run_ragged(std::uint64_t rows,
                    const std::vector<::tfaot::Span<const std::size_t>>& offsets,
                    const std::vector<::tfaot::BatchRunner::RaggedInput>& inputs,
                    const std::vector<::tfaot::BatchRunner::RaggedOutput>& outputs);

 private:
  Predictor(std::shared_ptr<const LoadedModel> model, ::tfaot::BatchRunner runner)
      : model_(std::move(model)), runner_(std::move(runner)) {}

  std::shared_ptr<const LoadedModel> model_;  // before the runner, which points into it
  ::tfaot::BatchRunner runner_;
  std::unique_ptr<::tfaot::ParallelRunner> rows_;  // null: rows stay together
  std::unique_ptr<::tfaot::KernelTasks> kernels_;  // null: kernels share nothing
};

// The levels of the package that this CPU can run, ascending.
// Instructions beyond the levels' that kernels of fewer bits use on this machine: "avx512vnni".
// Empty: none.
std::string instructions_in_use();

std::vector<std::string> runnable_levels(const CompiledModel& model);

}  // namespace tfaot::toolkit
