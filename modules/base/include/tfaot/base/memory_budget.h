// SPDX-License-Identifier: Apache-2.0
// The memory that some child processes may have together. What is counted is what they wrote into
// memory, in RAM or swapped out: not mapped files, and not what was only reserved, of which
// TensorFlow has much. process.h looks a few times a second. Safe from many threads.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <mutex>

namespace tfaot::toolkit {

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

// 0 if the process has ended.
std::uint64_t memory_of(pid_t process);

// That of this machine, or what its container may have; 0: unknown.
std::uint64_t machine_memory();

}  // namespace tfaot::toolkit
