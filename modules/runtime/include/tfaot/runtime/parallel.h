// SPDX-License-Identifier: Apache-2.0
// How a large batch is run on several threads of yours: native::Model::set_parallelism().
#pragma once

#include <cstddef>
#include <functional>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// Runs `task(0)` to `task(count - 1)`, in any order, on any threads, and returns when none runs
/// any more. What it throws is thrown on. Tasks throw nothing.
using Executor =
    std::function<void(std::size_t count, const std::function<void(std::size_t)>& task)>;

/// What a large batch is cut into.
struct Parallelism {
  Executor executor;           ///< none: rows are run on the calling thread
  std::size_t tasks = 1;       ///< most tasks of one call
  std::size_t min_rows = 128;  ///< least rows of a task; fewer are not worth a thread
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
