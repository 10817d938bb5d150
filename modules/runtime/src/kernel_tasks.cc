// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/kernel_tasks.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace {

// The work of one kernel call.
struct Job {
  std::int64_t count;
  Tasks::Work work;
  void* context;
  std::int64_t lanes;
  KernelTasks::NextPiece* next;  // of each lane
  detail::Denormals denormals = detail::FloatScope::of_this_thread();

  std::int64_t start_of(std::int64_t lane) const { return count * lane / lanes; }

  // The lane's own pieces first, then those that other lanes have left.
  void take_all(std::int64_t lane) const {
    const detail::FloatScope scope(denormals);
    for (std::int64_t i = 0; i < lanes; ++i) {
      const std::int64_t owner = (lane + i) % lanes;
      const std::int64_t end = start_of(owner + 1);
      for (;;) {
        // The executor makes the tasks' writes visible to the kernel, which reads after them.
        const std::int64_t piece = next[owner].value.fetch_add(1, std::memory_order_relaxed);
        if (piece >= end) break;
        work(context, piece, lane);
      }
    }
  }
};

}  // namespace

KernelTasks::KernelTasks(const Executor& executor, std::size_t tasks, std::size_t scratch_bytes)
    : Tasks{&KernelTasks::run_pieces, static_cast<std::int64_t>(tasks), nullptr,
            aligned_size(scratch_bytes)},
      executor_(executor),
      memory_(tasks * lane_bytes),
      next_(tasks) {
  scratch = memory_.data();
}

void KernelTasks::rethrow() {
  if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

void KernelTasks::run_pieces(Tasks& tasks, std::int64_t count, Work work, void* context) {
  auto& self = static_cast<KernelTasks&>(tasks);
  const Job job{count, work, context, std::min(self.lanes, count), self.next_.data()};
  for (std::int64_t lane = 0; lane < job.lanes; ++lane) {
    job.next[lane].value.store(job.start_of(lane), std::memory_order_relaxed);
  }
  // A single pointer, which std::function stores without allocating.
  const std::function<void(std::size_t)> task = [&job](std::size_t lane) {
    job.take_all(static_cast<std::int64_t>(lane));
  };
  if (!self.thrown_) {
    try {
      self.executor_(static_cast<std::size_t>(job.lanes), task);
    } catch (...) {
      self.thrown_ = std::current_exception();
    }
  }
  job.take_all(0);  // the pieces that an executor left because it threw or was cancelled
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
