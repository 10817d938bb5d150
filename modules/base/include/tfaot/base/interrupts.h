// SPDX-License-Identifier: Apache-2.0
// Handles SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE while there is something to clean up. While
// an InterruptWatch lives, these signals do not end the process. They are recorded: child processes
// are stopped (process.h), and from then on RealFileSystem refuses every change, so that the work
// ends and is undone as on a full disk. At its end main() dies of the signal. Without a watch there
// is nothing to clean up, and a signal ends the process at once. A signal that is ignored (nohup)
// stays ignored. The state belongs to the process, as signals do. Safe from many threads.
#pragma once

#include <chrono>
#include <string>

#include "tfaot/base/real_file_system.h"
#include "tfaot/base/result.h"

namespace tfaot::toolkit {

class InterruptWatch {
 public:
  InterruptWatch();
  InterruptWatch(const InterruptWatch&) : InterruptWatch() {}
  InterruptWatch& operator=(const InterruptWatch&) { return *this; }
  ~InterruptWatch();
};

// While it lives, this thread's changes go through in spite of a signal: those of a short commit,
// and those that clean up. REQUIRES: an InterruptWatch.
class DespiteInterrupts {
 public:
  DespiteInterrupts();
  DespiteInterrupts(const DespiteInterrupts&) = delete;
  DespiteInterrupts& operator=(const DespiteInterrupts&) = delete;
  ~DespiteInterrupts();
};

// Records a signal as if it had come. May be called in a signal handler.
void record_interrupt(int signal);
// The signal that was recorded first, or 0.
int interrupting_signal();
// "interrupted by signal 2 (Interrupt)"; or that the time is over (time_limit.h).
std::string interruption_text();
// An Error once a signal was recorded, except within DespiteInterrupts.
Status check_interrupts();
// Waits for `time` or until a signal is recorded. Returns whether one was.
bool wait_for_interrupt(std::chrono::milliseconds time);
// For event loops: becomes readable once a signal was recorded; -1 if there never was a watch.
int interrupt_descriptor();

// For tests: resets the state, as if no signal had come and none were ignored.
void forget_interrupts();

}  // namespace tfaot::toolkit
