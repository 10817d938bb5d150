// SPDX-License-Identifier: Apache-2.0
// Selects one of a package's CPU levels: the last one whose features are all available. Pure; safe
// from many threads.
#pragma once

#include <cstddef>

#include "tfaot/runtime/cpu_level.h"
#include "tfaot/runtime/detail/description.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

bool can_run(const Code& code, const CpuChoice& cpu);

// The index into program.codes. Throws Error (UnsupportedCpu) if no level can run; it names the
// compiled levels and those that the CPU can run. `model` is for the message.
std::size_t select_code(const char* model, const Program& program, const CpuChoice& cpu);

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
