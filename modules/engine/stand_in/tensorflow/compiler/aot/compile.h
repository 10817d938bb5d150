// SPDX-License-Identifier: Apache-2.0
// The wheel exports tfcompile's entry but does not ship its header. Main() initialises every LLVM
// back end the library holds, and only then looks whether flags.config is empty, which is all the
// engine wants of it: so the flags are empty strings, whatever their number and order.
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
