// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGPIPE while there is something to clean up. As long as an
// InterruptWatch lives, these signals do not end the process. They are noted: child processes are
// stopped (process.h), and from then on RealFileSystem refuses every change, so that the work ends
// and is taken back as on a full disk. At its end main() dies of the signal. Without a watch there
// is nothing to clean up, and a signal ends the process at once. A signal that is ignored (nohup)
// stays ignored. Of the process, as signals are. Safe from many threads.
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

// While it lives, this thread's changes are made in spite of a signal: those of a commit that is
// short, and those that clean up. REQUIRES: an InterruptWatch.
class DespiteInterrupts {
 public:
  DespiteInterrupts();
  DespiteInterrupts(const DespiteInterrupts&) = delete;
  DespiteInterrupts& operator=(const DespiteInterrupts&) = delete;
  ~DespiteInterrupts();
};

// The signal that was noted first, 0 while none was.
int interrupting_signal();
// "interrupted by signal 2 (Interrupt)"
std::string interruption_text();
// An Error once a signal was noted, except within DespiteInterrupts.
Status check_interrupts();
// Waits that long, or until a signal is noted: whether one was.
bool wait_for_interrupt(std::chrono::milliseconds time);
// For event loops: can be read once a signal was noted; -1 while there never was a watch.
int interrupt_descriptor();

// For tests: as if no signal had come, and no signal were ignored.
void forget_interrupts();

}  // namespace tfaot::toolkit
