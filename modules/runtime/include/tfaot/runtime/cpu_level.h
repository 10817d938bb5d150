// SPDX-License-Identifier: Apache-2.0
// Which of a package's CPU levels to use on this machine: the last of those whose features it has
// all. Pure but for this_cpu(), which looks once per process; safe from many threads.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tfaot/runtime/cpu_features.h"
#include "tfaot/runtime/description.h"

namespace tfaot {
inline namespace v1 {

struct CpuChoice {
  std::vector<std::string> features;  // what the machine has
  std::string forced;                 // a level's name; empty: take the best
};

// detect_cpu_features() and the environment variable TFAOT_CPU_LEVEL, both read at the first call.
const CpuChoice& this_cpu();

bool can_run(const Code& code, const CpuChoice& cpu);

// The index into program.codes. Throws Error (UnsupportedCpu), naming the levels compiled and those
// that can run, when there is none. `model` is for the message.
std::size_t select_code(const char* model, const Program& program, const CpuChoice& cpu);

}  // namespace v1
}  // namespace tfaot
