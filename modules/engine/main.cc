// SPDX-License-Identifier: Apache-2.0
// tfaot-engine JOB.json PARENT. The compile room starts it. The only program that links TensorFlow.
#include <cstdlib>
#include <iostream>

#include "engine.h"
#include "tfaot/base/real_file_system.h"

// An exception ends the engine like XLA's own aborts; tfaot then prints the last lines of its
// output. Skips destructors: a trial run that did not end (row_trial.cc) still uses what they would
// destroy.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  tfaot::toolkit::RealFileSystem fs;
  const int code = tfaot::toolkit::engine::run_engine(fs, argc, argv);
  std::cout.flush();
  std::_Exit(code);
}
