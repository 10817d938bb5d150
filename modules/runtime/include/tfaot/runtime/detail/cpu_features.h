// SPDX-License-Identifier: Apache-2.0
// The features that CPU and operating system (saved vector registers) offer to compiled code, by
// LLVM's names: "avx2", "sve". Only those that XLA's code may need; see the table of CPUs in
// records. Safe from many threads.
#pragma once

#include <string>
#include <vector>

#include "tfaot/runtime/detail/abi.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

// Asks the CPU (CPUID, XGETBV) or, on aarch64, the kernel (AT_HWCAP). Sorted.
std::vector<std::string> detect_cpu_features();

// The features in `needed`, a list separated by spaces, that are not in `offered`.
std::vector<std::string> missing_features(const char* needed,
                                          const std::vector<std::string>& offered);

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
