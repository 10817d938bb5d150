// SPDX-License-Identifier: Apache-2.0
// Which CPU levels this machine can run, and which of a package's levels to use. Levels are those
// of the x86-64 psABI
// ("x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4") or "generic" on other architectures; any other
// name counts as unsupported. Pure but for this_cpu(), which looks once per process; safe from many
// threads.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tfaot/runtime/description.h"

namespace tfaot {
inline namespace v1 {

struct CpuChoice {
  std::vector<std::string> supported;  // ascending
  std::string forced;                  // empty: take the highest supported
};

// The levels that both the CPU and the operating system (saved vector registers) support.
std::vector<std::string> detect_cpu_levels();

// detect_cpu_levels() and the environment variable TFAOT_CPU_LEVEL, both read at the first call.
const CpuChoice& this_cpu();

// The index into program.codes. Throws Error (UnsupportedCpu), naming the levels of both sides,
// when there is none. `model` is for the message.
std::size_t select_code(const char* model, const Program& program, const CpuChoice& cpu);

}  // namespace v1
}  // namespace tfaot
