// SPDX-License-Identifier: Apache-2.0
// The CPUs that LLVM 19 knows, and which of their features its code generator uses by itself. As
// `clang-19 --print-supported-cpus`, `-march=NAME -dM -E` and `--print-enabled-extensions` tell.
#pragma once

#include <string_view>
#include <vector>

namespace tfaot::toolkit {

// Names of CPUs that need the same; a level comes before the CPUs. `like` is a name of an earlier
// row, whose features they have too.
struct CpuRow {
  std::string_view names;
  std::string_view like;
  std::string_view features;
};

// From the least to the most demanding: by the psABI level that is in them, then by the number of
// features.
const std::vector<CpuRow>& x86_64_cpus();
const std::vector<CpuRow>& aarch64_cpus();

}  // namespace tfaot::toolkit
