// SPDX-License-Identifier: Apache-2.0
// Compiler flags that name features of a CPU -> the level that packages are compiled for. Pure
// function, safe from many threads.
#pragma once

#include <string>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

/// The lowest x86-64 level that has all of "+avx2,+fma", in LLVM's spelling. Usage error: a word is
/// not such a feature.
Result<std::string> level_with_features(const std::string& features);

}  // namespace tfaot::toolkit
