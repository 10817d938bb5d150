// SPDX-License-Identifier: Apache-2.0
// Runs many rows as several tasks at a time, on threads that the caller has: a share of the rows
// each, by a BatchRunner of its own, so with scratch memory of its own; code and weights stay
// shared. All memory is allocated when it is made. Thread-compatible: one per model.
#pragma once

#include <cstddef>
#include <vector>

#include "tfaot/runtime/detail/batch_runner.h"
#include "tfaot/runtime/parallel.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

class ParallelRunner {
 public:
  // Tasks run the code of `like`. Coupled rows stay together: there are no tasks.
  ParallelRunner(const BatchRunner& like, Parallelism parallelism);

  // True when there is work for two tasks.
  bool takes(std::size_t rows) const noexcept {
    return lanes_.size() > 1 && rows / 2 >= parallelism_.min_rows;
  }
  // As BatchRunner::run(), without rules. REQUIRES: takes(rows).
  void run(std::size_t rows, const void* const* inputs, void* const* outputs);

 private:
  // What a task works with; no two tasks of a call share one.
  struct Lane {
    BatchRunner runner;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
  };
  // One call of run().
  struct Job {
    ParallelRunner* self;
    std::size_t rows;
    std::size_t share;
    const void* const* inputs;
    void* const* outputs;
  };

  std::size_t share_of(std::size_t rows) const noexcept;
  void run_task(const Job& job, std::size_t task);

  Parallelism parallelism_;
  std::vector<Lane> lanes_;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
