// SPDX-License-Identifier: Apache-2.0
// The Tasks of one model: shares the pieces of a kernel's work out among tasks of the user's
// executor. Each task has its own pieces, neighbours of each other, so that a thread mostly finds
// in its caches what it made in the kernel before. When they are done it takes those of others, so
// it does not matter in which order tasks run, or how many at a time. All memory is allocated at
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
  // The number of the next piece of a lane, in a line of the caches of its own.
  struct alignas(kAlignment) NextPiece {
    std::atomic<std::int64_t> value{0};
  };

  // At most so many tasks at a time, which are the lanes; each has so much scratch memory, which
  // may be none. `executor` must outlive this.
  KernelTasks(const Executor& executor, std::size_t tasks, std::size_t scratch_bytes);
  KernelTasks(const KernelTasks&) = delete;
  KernelTasks& operator=(const KernelTasks&) = delete;

  // For Instance::share_kernels(). Stays valid as long as this.
  Tasks* tasks() noexcept { return this; }
  // Compiled code lets no exception pass: throws what the executor threw since the last call. The
  // work is done in spite of it.
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
