// SPDX-License-Identifier: Apache-2.0
// The Tasks of one model: shares the pieces of a kernel's work out among tasks of the user's
// executor. Each task starts with its own neighbouring pieces, so that a thread mostly finds the
// results of the kernel before in its caches. Then it takes the pieces that other tasks have left,
// so the order of tasks does not matter, nor how many run at a time. All memory is allocated at
// construction. For one thread at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

#include "tfaot/runtime/detail/aligned_memory.h"
#include "tfaot/runtime/detail/description.h"
#include "tfaot/runtime/detail/tasks.h"
#include "tfaot/runtime/parallel.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

class KernelTasks : private Tasks {
 public:
  // The number of a lane's next piece, on a cache line of its own.
  struct alignas(kAlignment) NextPiece {
    std::atomic<std::int64_t> value{0};
  };

  // At most `tasks` tasks run at a time, one per lane; each lane has this much scratch memory, or
  // none. `executor` must outlive this.
  KernelTasks(const Executor& executor, std::size_t tasks, std::size_t scratch_bytes);
  KernelTasks(const KernelTasks&) = delete;
  KernelTasks& operator=(const KernelTasks&) = delete;

  // For Instance::share_kernels(). Stays valid as long as this.
  Tasks* tasks() noexcept { return this; }
  // Throws what the executor threw since the last call: exceptions cannot pass through compiled
  // code. The work is done nevertheless.
  void rethrow();

 private:
  static void run_pieces(Tasks& tasks, std::int64_t count, Work work, void* context);

  const Executor& executor_;
  AlignedMemory memory_;
  std::vector<NextPiece> next_;
  std::exception_ptr thrown_;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
