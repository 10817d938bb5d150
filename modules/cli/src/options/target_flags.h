// SPDX-License-Identifier: Apache-2.0
// --additional-flags: flags for the compiler in the form of upstream's tfcompile. Pure functions.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// Empty members: not given.
struct TargetFlags {
  std::string target_triple;
  std::vector<std::string> cpu_levels;
};

// "--target_triple=T --target_cpu C --target_features=+avx2,+fma": spaces and quotes work as in a
// shell. Features become the lowest CPU level that has all of them, because packages are compiled
// only for levels.
Result<TargetFlags> parse_target_flags(const std::string& text);

}  // namespace tfaot::toolkit
