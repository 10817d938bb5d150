// SPDX-License-Identifier: Apache-2.0
#include "tfaot/base/interrupts.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "tfaot/base/time_limit.h"

namespace tfaot::toolkit {
namespace {

constexpr std::array<int, 5> kSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};

std::atomic<int> noted = 0;
std::atomic<int> event_descriptor = -1;  // an eventfd, never closed: a handler may write to it
std::mutex watching;                     // for the two below
int watches = 0;
std::array<struct sigaction, kSignals.size()> actions_before;

thread_local int despite = 0;

}  // namespace

// A signal handler: uses only what POSIX allows there.
void record_interrupt(int signal) {
  const int error_number = errno;
  int none = 0;
  noted.compare_exchange_strong(none, signal);
  const std::uint64_t one = 1;
  static_cast<void>(::write(event_descriptor, &one, sizeof one));
  errno = error_number;
}

InterruptWatch::InterruptWatch() {
  const std::scoped_lock lock(watching);
  if (watches++ > 0) return;
  if (event_descriptor < 0) event_descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  struct sigaction action {};
  action.sa_handler = record_interrupt;
  action.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    ::sigaction(kSignals[i], nullptr, &actions_before[i]);
    if (actions_before[i].sa_handler != SIG_IGN) ::sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptWatch::~InterruptWatch() {
  const std::scoped_lock lock(watching);
  if (--watches > 0) return;
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    ::sigaction(kSignals[i], &actions_before[i], nullptr);
}

DespiteInterrupts::DespiteInterrupts() { ++despite; }
DespiteInterrupts::~DespiteInterrupts() { --despite; }

int interrupting_signal() { return noted; }

std::string interruption_text() {
  const int signal = noted;
  if (signal == kTimeLimitSignal) return time_limit_text();
  return fmt::format("interrupted by signal {} ({})", signal, ::strsignal(signal));
}

Status check_interrupts() {
  if (noted == 0 || despite > 0) return {};
  Error error(interruption_text());
  if (noted == kTimeLimitSignal) error.note(kTimeLimitAdvice);
  return fail(std::move(error));
}

bool wait_for_interrupt(std::chrono::milliseconds time) {
  pollfd waited{event_descriptor, POLLIN, 0};
  if (noted == 0) ::poll(&waited, 1, static_cast<int>(time.count()));
  return noted != 0;
}

int interrupt_descriptor() { return event_descriptor; }

void forget_interrupts() {
  noted = 0;
  std::uint64_t count = 0;
  if (event_descriptor >= 0) static_cast<void>(::read(event_descriptor, &count, sizeof count));
  for (const int signal : kSignals) ::signal(signal, SIG_DFL);
}

}  // namespace tfaot::toolkit
