// SPDX-License-Identifier: Apache-2.0
// Splits a call into tasks for the caller's threads, in the way that costs least:
// - rows: each task gets a share of the rows and its own BatchRunner, so its own scratch memory;
//   all share code and weights;
// - kernels: one BatchRunner runs all rows, and large kernels share their work out.
// All memory is allocated at construction. Thread-compatible: one per model.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tfaot/runtime/detail/batch_runner.h"
#include "tfaot/runtime/detail/kernel_tasks.h"
#include "tfaot/runtime/parallel.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

class ParallelRunner {
 public:
  // Tasks run the code of `like`. Coupled rows stay together: then only kernels share.
  ParallelRunner(const BatchRunner& like, Parallelism parallelism);
  ParallelRunner(const ParallelRunner&) = delete;
  ParallelRunner& operator=(const ParallelRunner&) = delete;

  // Like BatchRunner::run(), without rules. `alone` is the runner that this was made for, or the
  // one it was moved to; it runs calls that are not shared out by rows.
  void run(BatchRunner& alone, std::size_t rows, const void* const* inputs, void* const* outputs);
  // The same for BatchRunner::run_ragged(). A task runs piece after piece of the rows, so that one
  // with small rows does more of them.
  void run_ragged(BatchRunner& alone, const BatchRunner::RaggedCall& call);
  // BatchRunner::prepare() of all tasks.
  void prepare(std::size_t rows) {
    for (Lane& lane : lanes_) lane.runner.prepare(rows);
  }

 private:
  enum class Way : std::uint8_t { kAlone, kRows, kKernels };
  // The state of a task; no two tasks of a call share one.
  struct Lane {
    BatchRunner runner;
    std::vector<const void*> inputs;
    std::vector<void*> outputs;
    bool done = false;  // in this call
  };
  // One call that is shared out by rows.
  struct Job {
    ParallelRunner* self;
    std::size_t rows;
    std::size_t share;
    const void* const* inputs;
    void* const* outputs;
  };
  struct RaggedJob {
    ParallelRunner* self;
    const BatchRunner::RaggedCall& call;
    std::size_t share;  // rows of a piece
    std::size_t pieces;
    std::atomic<std::size_t> next = 0;   // piece
    std::atomic<std::size_t> ended = 0;  // pieces
  };

  // `size`: what a row costs, as a share of one with the largest sizes.
  Way way_of(std::size_t rows, double size) const noexcept;
  Way cheapest_way(std::size_t rows, double size) const noexcept;
  double cost_of(std::size_t rows, Way way) const noexcept;
  std::size_t share_of(std::size_t rows) const noexcept;
  void run_rows(std::size_t rows, const void* const* inputs, void* const* outputs);
  void run_task(const Job& job, std::size_t task);
  // Of the rows of a ragged call; 1: it is not shared.
  std::size_t ragged_tasks(const Description& model,
                           const BatchRunner::RaggedCall& call) const noexcept;
  void run_ragged_task(RaggedJob& job, std::size_t task);

  Parallelism parallelism_;
  BatchPlan plan_;
  std::vector<double> alone_;           // by program, picoseconds; empty: unknown
  std::vector<double> kernels_;         // the same with kernels that share
  std::size_t aligned_rows_;            // any tensor is aligned at multiples of it
  std::vector<Lane> lanes_;             // empty: rows stay together
  std::unique_ptr<KernelTasks> tasks_;  // null: no kernel shares
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
