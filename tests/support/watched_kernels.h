// SPDX-License-Identifier: Apache-2.0
// Kernels that ask the system for nothing: with TFAOT_REAL_TIME_CALLS=N in the environment, a
// kernel that a test calls is called again in a watched process (watched_calls.h), N times in all,
// by the arguments of that call and of later ones.
#pragma once

#include <cstdint>
#include <string>

namespace tfaot_test {

using Kernel = void (*)(void* out, const void** in);

struct WatchedKernel {
  std::string name;
  std::uint64_t calls = 0;  // that were watched
};

// N; 0: kernels are not watched.
std::uint64_t kernel_calls_to_watch();

// Adds a kernel that tests must call often enough, or the program fails at its end.
WatchedKernel& add_watched_kernel(const char* name);

// Calls it, and then watches calls of it if some are left.
void call_watched(WatchedKernel& watched, Kernel kernel, void* out, const void** in);

template <Kernel kKernel>
WatchedKernel*& watched_kernel() {
  static WatchedKernel* watched = nullptr;
  return watched;
}

// The kernel itself, or one that watches it.
template <Kernel kKernel>
Kernel watch(const char* name, bool runs_here) {
  if (!runs_here || kernel_calls_to_watch() == 0) return kKernel;
  watched_kernel<kKernel>() = &add_watched_kernel(name);
  return [](void* out, const void** in) {
    call_watched(*watched_kernel<kKernel>(), kKernel, out, in);
  };
}

}  // namespace tfaot_test
