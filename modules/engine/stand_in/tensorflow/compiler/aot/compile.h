// SPDX-License-Identifier: Apache-2.0
// The wheel exports tfcompile's entry but does not ship its header. Main() initialises every LLVM
// back end in the library, and only then checks whether flags.config is empty. The engine needs
// only that, so the flags are empty strings, whatever their number and order.
#pragma once

#include <array>
#include <string>

#include "absl/status/status.h"

namespace tensorflow::tfcompile {

struct MainFlags {
  std::array<std::string, 32> all_empty;
};

absl::Status Main(const MainFlags& flags);

}  // namespace tensorflow::tfcompile
