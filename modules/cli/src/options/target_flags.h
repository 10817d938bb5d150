// SPDX-License-Identifier: Apache-2.0
// --additional-flags: flags for the compiler, spelled as upstream's tfcompile takes them. Pure
// functions.
#pragma once

#include <string>
#include <vector>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

// Empty members: not said.
struct TargetFlags {
  std::string target_triple;
  std::vector<std::string> cpu_levels;
};

// "--target_triple=T --target_cpu C --target_features=+avx2,+fma": blanks and quotes as in a shell.
// Features become the lowest CPU level that has them all, as packages are compiled for levels only.
Result<TargetFlags> parse_target_flags(const std::string& text);

}  // namespace tfaot::toolkit
