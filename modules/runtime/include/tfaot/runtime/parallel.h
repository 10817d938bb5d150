// SPDX-License-Identifier: Apache-2.0
// Runs one call on several of your threads: native::Model::set_parallelism().
#pragma once

#include <cstddef>
#include <functional>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// Runs `task(0)` to `task(count - 1)`, in any order, on any threads, and returns when all have
/// ended. Exceptions from the executor propagate. Tasks throw nothing. If it skips a task that has
/// rows of its own, the call throws Error: FailedRun.
using Executor =
    std::function<void(std::size_t count, const std::function<void(std::size_t)>& task)>;

/// How a call is split.
struct Parallelism {
  Executor executor;         ///< none: all runs on the calling thread
  std::size_t tasks = 1;     ///< the most tasks at a time
  std::size_t min_rows = 0;  ///< the fewest rows of a task; 0: rows or kernels, chosen by cost
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
