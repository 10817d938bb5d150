// SPDX-License-Identifier: Apache-2.0
// A negative number of rows, such as -1 in an `int`, reaches run() as a huge std::size_t. Errors
// show the number that the caller wrote. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

// Empty unless `rows` was negative: "model 'test': run() was called with -1 rows".
inline std::string negative_rows_message(const std::string& model, std::size_t rows) {
  const auto number = static_cast<std::ptrdiff_t>(rows);
  if (number >= 0) return "";
  return "model '" + model + "': run() was called with " + std::to_string(number) +
         " rows; the number of rows is 0 or more";
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
