// SPDX-License-Identifier: Apache-2.0
// Runs many rows as several tasks at a time, on the caller's threads. Each task gets a share of the
// rows and its own BatchRunner, so its own scratch memory; all share code and weights. All memory
// is allocated at construction. Thread-compatible: one per model.
#pragma once

#include <cstddef>
#include <vector>

#include "tfaot/runtime/detail/batch_runner.h"
#include "tfaot/runtime/parallel.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

class ParallelRunner {
 public:
  // Tasks run the code of `like`. Coupled rows stay together: then there are no tasks.
  ParallelRunner(const BatchRunner& like, Parallelism parallelism);

  // True if there is work for two tasks.
  bool takes(std::size_t rows) const noexcept {
    return lanes_.size() > 1 && rows / 2 >= parallelism_.min_rows;
  }
  // Like BatchRunner::run(), without rules. REQUIRES: takes(rows).
  void run(std::size_t rows, const void* const* inputs, void* const* outputs);

 private:
  // The state of a task; no two tasks of a call share one.
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
