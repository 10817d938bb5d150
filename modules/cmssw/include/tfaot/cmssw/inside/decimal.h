// SPDX-License-Identifier: Apache-2.0
// Numbers as text, without std::to_string(): its table is a symbol that keeps a plugin from being
// unloaded.
#pragma once

#include <cstddef>
#include <string>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace detail {

inline std::string decimal(std::size_t number) {
  std::string digits;
  for (; number > 0 || digits.empty(); number /= 10) {
    digits.insert(digits.begin(), static_cast<char>('0' + number % 10));
  }
  return digits;
}

}  // namespace detail
}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
