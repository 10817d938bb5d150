// SPDX-License-Identifier: Apache-2.0
// tfaot-engine JOB.json PARENT [MEMORY]. The compile room starts it; if another program does for
// it, PARENT is "any" and the engine itself keeps to the memory. The only program that links
// TensorFlow.
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include "engine.h"
#include "tfaot/base/memory_budget.h"
#include "tfaot/base/program_start.h"
#include "tfaot/base/real_file_system.h"

namespace {

// XLA follows a chain of operations by recursion: 20,000 small ones need more than the usual 8 MB.
// Linux keeps at least 128 MB of addresses for the stack of the main thread.
void allow_deep_recursion() {
  constexpr rlim_t kBytes = rlim_t{120} << 20;
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kBytes) return;
  limit.rlim_cur = std::min(limit.rlim_max, kBytes);
  setrlimit(RLIMIT_STACK, &limit);
}

// One that another program starts is not a child of the tfaot that knows the limit.
void keep_to_memory(int argc, char** argv) {
  using namespace tfaot::toolkit;
  if (argc < 3 || argv[2] != std::string_view(kAnyParent)) return;
  end_above_memory(argc > 3 ? std::strtoull(argv[3], nullptr, 10) : machine_memory() / 2,
                   [] { std::_Exit(1); });
}

}  // namespace

// An exception ends the engine like XLA's own aborts; tfaot then prints the last lines of its
// output. Skips destructors: a trial run that did not end (row_check.cc) still uses what they would
// destroy.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  allow_deep_recursion();
  keep_to_memory(argc, argv);
  tfaot::toolkit::RealFileSystem fs;
  const int code = tfaot::toolkit::engine::run_engine(fs, argc, argv);
  std::cout.flush();
  std::_Exit(code);
}
