// SPDX-License-Identifier: Apache-2.0
// A limit of the time that this process works. The clock stands while it waits for a lock, or for a
// child that has a limit of its own; other children count as its work. When the time is over, the
// process is interrupted (interrupts.h), so that it stops and cleans up. If it still works two
// seconds later, it ends there, with an error and exit code 1. One limit at a time, because the
// state belongs to the process. Safe from many threads.
#pragma once

#include <signal.h>

#include <chrono>
#include <functional>
#include <string>

namespace tfaot::toolkit {

class TimeLimit {
 public:
  explicit TimeLimit(std::chrono::seconds limit);  // 0: none
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;
  ~TimeLimit();
};

// The clock stands while one lives.
class TimeLimitPause {
 public:
  TimeLimitPause();
  TimeLimitPause(const TimeLimitPause&) = delete;
  TimeLimitPause& operator=(const TimeLimitPause&) = delete;
  ~TimeLimitPause();
};

// The signal that interrupts when the time is over. The process does not die of it.
inline constexpr int kTimeLimitSignal = SIGALRM;
// "the time limit of 5 s is over"
std::string time_limit_text();
// What to do about a limit.
inline constexpr const char* kTimeLimitAdvice = "raise the limit with --timeout SECONDS (0: none)";

// Does the work in a copy of this process, so nothing changes here: for work that may never end.
// True if it ended in time.
bool is_done_in_time(const std::function<void()>& work, std::chrono::milliseconds limit);

}  // namespace tfaot::toolkit
