// SPDX-License-Identifier: Apache-2.0
// Hands pieces of a kernel's work to the user's executor. The runtime makes one for a model that
// has an executor, and compiled code passes its address on to kernels that share their work. A
// plain struct without functions, because kernels are compiled once for each CPU level.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

struct Tasks {
  // Does one piece. Two pieces that run at the same time have different lanes.
  using Work = void (*)(void* context, std::int64_t piece, std::int64_t lane);

  // Calls work(context, piece, lane) for all pieces below `count`, in any order, on any threads,
  // and returns when all have ended. REQUIRES: no piece calls it.
  void (*run)(Tasks& tasks, std::int64_t count, Work work, void* context);
  std::int64_t lanes;      // the most pieces that run at the same time; 2 or more
  std::byte* scratch;      // of lane 0, aligned to kAlignment; null if no kernel needs any
  std::size_t lane_bytes;  // from the scratch of a lane to that of the next
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
