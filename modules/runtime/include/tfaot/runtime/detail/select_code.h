// SPDX-License-Identifier: Apache-2.0
// Which of a package's CPU levels to use: the last of those whose features are all there. Pure;
// safe from many threads.
#pragma once

#include <cstddef>

#include "tfaot/runtime/cpu_level.h"
#include "tfaot/runtime/detail/description.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

bool can_run(const Code& code, const CpuChoice& cpu);

// The index into program.codes. Throws Error (UnsupportedCpu), naming the levels compiled and those
// that can run, when there is none. `model` is for the message.
std::size_t select_code(const char* model, const Program& program, const CpuChoice& cpu);

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
