// SPDX-License-Identifier: Apache-2.0
// What CPU and operating system (saved vector registers) offer compiled code, by LLVM's names of
// features: "avx2", "sve". Only what XLA's code can need is looked for; see config's table of CPUs.
// Safe from many threads.
#pragma once

#include <string>
#include <vector>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

// By asking the CPU (CPUID, XGETBV) or, on aarch64, the kernel (AT_HWCAP). Sorted.
std::vector<std::string> detect_cpu_features();

// The levels of the x86-64 psABI whose features the machine has all, ascending: "x86-64", ...;
// elsewhere "generic". For whoever calls kernels by level; models look at their codes' features.
std::vector<std::string> detect_cpu_levels();

// Those of `needed`, a list with blanks between, that are not in `offered`.
std::vector<std::string> missing_features(const char* needed,
                                          const std::vector<std::string>& offered);

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
