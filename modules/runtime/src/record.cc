// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/record.h"

#include "tfaot/runtime/detail/machine_ways.h"

// A library without the kernel that has them does not need them.
#pragma weak tfaot_machine_instructions

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace detail {

const char* instructions_in_use() noexcept {
  const char* const* const text = &tfaot_machine_instructions;
  return text == nullptr ? "" : *text;
}

}  // namespace detail
}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
