// SPDX-License-Identifier: Apache-2.0
// What a piece of code asks of the C library and of the system: the program that links this counts
// each allocation, lock and look at the clock of a thread, and can end at any system call.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string>

namespace tfaot_test {

// How many calls tests watch: TFAOT_REAL_TIME_CALLS of the environment, for more by hand.
inline std::uint64_t calls_to_watch(std::uint64_t without) {
  const char* const text = std::getenv("TFAOT_REAL_TIME_CALLS");
  return text == nullptr ? without : std::strtoull(text, nullptr, 10);
}

// Of the calling thread, since it began.
struct AskedCalls {
  std::uint64_t allocations = 0;  // malloc and its kin, free too
  std::uint64_t locks = 0;        // mutexes, read-write locks, condition variables, semaphores
  std::uint64_t clocks = 0;       // the clock, which needs no system call
};
AskedCalls asked_calls() noexcept;

// Runs `prepare`, then `run` where every system call ends the process, in a child process. Returns
// what `run` asked for, as text: empty if nothing. "system call 9", "3 allocations, 1 lock",
// "signal 11", or why it could not be watched, which begins with "skipped: ".
std::string asked_for(const std::function<void()>& prepare, const std::function<void()>& run);

}  // namespace tfaot_test
