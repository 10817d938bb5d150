// SPDX-License-Identifier: Apache-2.0
// The memory that some child processes may have together. What is counted is what they wrote into
// memory, in RAM or swapped out: not mapped files, and not what was only reserved, of which
// TensorFlow has much. process.h looks a few times a second. Safe from many threads.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>

namespace tfaot::toolkit {

inline constexpr std::uint64_t kMegabyte = 1'000'000;  // bytes

class MemoryBudget {
 public:
  explicit MemoryBudget(std::uint64_t bytes) : bytes_(bytes) {}  // 0: any number

  std::uint64_t bytes() const { return bytes_; }
  // Notes that a process has `bytes` now. Returns whether it must end: all together have more than
  // the budget, and no other one has more than it.
  bool is_exceeded_by(pid_t process, std::uint64_t bytes);
  void forget(pid_t process);

 private:
  const std::uint64_t bytes_;
  std::mutex mutex_;
  std::map<pid_t, std::uint64_t> used_;
};

// How often a child's memory is looked at. In between it can fill some hundred megabytes.
inline constexpr std::chrono::milliseconds kMemoryLook{50};
// What to do about a child that needed more.
inline constexpr const char* kMemoryAdvice =
    "the limit is for all engine processes together: raise it with --memory MB (0: none)";

// Writes a message and calls `end`, in another thread, once this process has more than this: for
// one that is not a child of who set the limit. 0: never. `end` must not return.
void end_above_memory(std::uint64_t bytes, void (*end)());

// 0 if the process has ended.
std::uint64_t memory_of(pid_t process);

// That of this machine, or what its container may have; 0: unknown.
std::uint64_t machine_memory();

}  // namespace tfaot::toolkit
