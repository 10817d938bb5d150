// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/kernel_tasks.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <utility>

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace {

// The work of one kernel call.
struct Pieces {
  std::int64_t count;
  Tasks::Work work;
  void* context;
  std::atomic<std::int64_t> next{0};

  void take_all(std::int64_t lane) {
    for (;;) {
      // The executor orders what the tasks write before what the kernel reads after them.
      const std::int64_t piece = next.fetch_add(1, std::memory_order_relaxed);
      if (piece >= count) return;
      work(context, piece, lane);
    }
  }
};

}  // namespace

KernelTasks::KernelTasks(const Executor& executor, std::size_t tasks, std::size_t scratch_bytes)
    : Tasks{&KernelTasks::run_pieces, static_cast<std::int64_t>(tasks), nullptr,
            aligned_size(scratch_bytes)},
      executor_(executor),
      memory_(tasks * lane_bytes) {
  scratch = memory_.data();
}

void KernelTasks::rethrow() {
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void KernelTasks::run_pieces(Tasks& tasks, std::int64_t count, Work work, void* context) {
  auto& self = static_cast<KernelTasks&>(tasks);
  Pieces pieces{count, work, context};
  // A single pointer, which std::function stores without allocating.
  const std::function<void(std::size_t)> task = [&pieces](std::size_t lane) {
    pieces.take_all(static_cast<std::int64_t>(lane));
  };
  if (!self.thrown_) {
    try {
      self.executor_(static_cast<std::size_t>(std::min(self.lanes, count)), task);
    } catch (...) {
      self.thrown_ = std::current_exception();
    }
  }
  pieces.take_all(0);  // what an executor that threw has left
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
