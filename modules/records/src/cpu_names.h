// SPDX-License-Identifier: Apache-2.0
// The CPUs that LLVM 19 knows, and which of their features its code generator uses by itself. Taken
// from `clang-19 --print-supported-cpus`, `-march=NAME -dM -E` and `--print-enabled-extensions`.
#pragma once

#include <string_view>
#include <vector>

namespace tfaot::toolkit {

// Names of CPUs with the same features. A level comes before the CPUs, and levels.def has its
// features. `like` is a name from an earlier row whose features they have too.
struct CpuRow {
  std::string_view names;
  std::string_view like;
  std::string_view features;
};

// From the least to the most demanding: by the psABI level that they include, then by the number of
// features.
const std::vector<CpuRow>& x86_64_cpus();
const std::vector<CpuRow>& aarch64_cpus();

}  // namespace tfaot::toolkit
