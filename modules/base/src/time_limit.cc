// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/time_limit.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <thread>

#include "tfaot/base/interrupts.h"

namespace tfaot::toolkit {
namespace {

constexpr std::chrono::seconds kTimeToEnd{2};

std::atomic<bool> is_over = false;
std::atomic<std::int64_t> seconds = 0;
std::string last_words;  // for the handler: does not change while there is a limit
std::mutex pausing;      // for the two below
int pauses = 0;
itimerval rest{};  // of the time, while the clock stands
struct sigaction before {};

void start_clock(const itimerval& time) { ::setitimer(ITIMER_REAL, &time, nullptr); }

itimerval time_of(std::chrono::seconds time) {
  itimerval value{};
  value.it_value.tv_sec = time.count();
  return value;
}

// A signal handler: uses only what is safe there.
void on_time_over(int) {
  if (is_over.exchange(true)) {
    static_cast<void>(::write(STDERR_FILENO, last_words.data(), last_words.size()));
    ::_exit(1);
  }
  record_interrupt(kTimeLimitSignal);
  start_clock(time_of(kTimeToEnd));
}

}  // namespace

TimeLimit::TimeLimit(std::chrono::seconds limit) {
  seconds = limit.count();
  is_over = false;
  last_words = fmt::format("tfaot: error: {}\n  {}\n", time_limit_text(), kTimeLimitAdvice);
  struct sigaction action {};
  action.sa_handler = on_time_over;
  action.sa_flags = SA_RESTART;
  ::sigaction(kTimeLimitSignal, &action, &before);
  start_clock(time_of(limit));
}

TimeLimit::~TimeLimit() {
  start_clock({});
  ::sigaction(kTimeLimitSignal, &before, nullptr);
  seconds = 0;
}

TimeLimitPause::TimeLimitPause() {
  const std::scoped_lock lock(pausing);
  if (pauses++ == 0 && seconds > 0 && !is_over) {
    const itimerval none{};
    ::setitimer(ITIMER_REAL, &none, &rest);
  }
}

TimeLimitPause::~TimeLimitPause() {
  const std::scoped_lock lock(pausing);
  if (--pauses == 0 && seconds > 0 && !is_over) start_clock(rest);
}

std::string time_limit_text() { return fmt::format("the time limit of {} s is over", seconds); }

bool is_done_in_time(const std::function<void()>& work, std::chrono::milliseconds limit) {
  constexpr std::chrono::milliseconds kStep{2};
  const auto end = std::chrono::steady_clock::now() + limit;
  const pid_t copy = ::fork();
  if (copy < 0) return false;
  if (copy == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    work();
    ::_exit(0);
  }
  int status = 0;
  while (::waitpid(copy, &status, WNOHANG) != copy) {
    if (std::chrono::steady_clock::now() < end && interrupting_signal() == 0) {
      std::this_thread::sleep_for(kStep);
      continue;
    }
    ::kill(copy, SIGKILL);
    ::waitpid(copy, &status, 0);
    return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace tfaot::toolkit
