// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/record.h"

#include "tfaot/runtime/detail/machine_ways.h"

// Here, and not beside what sets it, so that a library without the kernel does not ask the machine.
const char* tfaot_machine_instructions[2] = {"", ""};

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace detail {

const char* instructions_in_use(const char* cpu_level) noexcept {
  const std::string_view level = cpu_level == nullptr ? "" : cpu_level;
  const auto& [wide, narrow] = tfaot_machine_instructions;
  if (level == "x86-64-v3") return narrow;
  if (level == "x86-64" || level == "x86-64-v2") return "";
  return level == "x86-64-v4" || *wide != 0 ? wide : narrow;  // else of a CPU
}

}  // namespace detail
}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
