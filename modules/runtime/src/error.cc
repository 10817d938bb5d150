// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/error.h"

#include <array>
#include <cstddef>

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace {

// In the order of Category.
const std::array<std::string, 13>& names() {
  static const std::array<std::string, 13> kNames = {
      "InputMismatch",  "OutputMismatch", "EmptySizes",       "UnknownBatchSize", "UnknownArgument",
      "UnknownResult",  "FailedRun",      "InvalidBatchRule", "WrongPadding",     "WrongBatchSize",
      "UnsupportedCpu", "ConcurrentUse",  "SizeOutOfRange"};
  return kNames;
}

const std::string& name_of(Category category) {
  return names()[static_cast<std::size_t>(category)];
}

}  // namespace

std::string_view to_string(Category category) noexcept { return name_of(category); }

Error::Error(Category category, const std::string& message)
    : std::runtime_error(name_of(category) + ": " + message), category_(category) {}

const std::string& Error::category() const noexcept { return name_of(category_); }

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
