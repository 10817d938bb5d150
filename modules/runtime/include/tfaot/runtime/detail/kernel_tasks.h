// SPDX-License-Identifier: Apache-2.0
// The Tasks of one model: shares the pieces of a kernel's work out among tasks of the user's
// executor. Each task takes the next piece until none is left, so it does not matter in which order
// tasks run, or how many at a time. All memory is allocated at construction. For one thread at a
// time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>

#include "tfaot/runtime/detail/aligned_memory.h"
#include "tfaot/runtime/detail/tasks.h"
#include "tfaot/runtime/parallel.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

class KernelTasks : private Tasks {
 public:
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
  std::exception_ptr thrown_;
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
