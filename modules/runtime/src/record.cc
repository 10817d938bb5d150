// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/record.h"

#include "tfaot/runtime/detail/machine_ways.h"

// Here, and not beside what sets it, so that a library without the kernel does not ask the machine.
const char* tfaot_machine_instructions = "";

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace detail {

const char* instructions_in_use(const char* cpu_level) noexcept {
  const std::string_view level = cpu_level == nullptr ? "" : cpu_level;
  const bool has_none = level.substr(0, 6) == "x86-64" && level != "x86-64-v4";
  return has_none ? "" : tfaot_machine_instructions;
}

}  // namespace detail
}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
