// SPDX-License-Identifier: Apache-2.0
// The CPU levels a package can hold code for: the levels of the x86-64 psABI and the CPUs that LLVM
// knows by name, with the features that code for each may use. The one table for the config, its
// JSON Schema, its manual, the compiler's options and the generated headers. Pure functions, safe
// from many threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tfaot/base/result.h"

namespace tfaot::toolkit {

struct CpuLevel {
  std::string architecture;  // first part of the target triple
  std::string name;          // LLVM's name of the CPU; "native": see native_cpu_level()
  bool is_cpu = false;       // a processor such as "znver4", not a level such as "x86-64-v3"
  bool by_default = false;   // compiled if the config names no levels
  // What its code needs beyond the architecture itself, by LLVM's names. Left out are instructions
  // that the compiler uses only on request (cryptography, AMX, system calls, ...).
  std::vector<std::string> features = {};
  std::string kernels = {};  // the highest level of our kernels it can run, as in symbols
};

// By architecture, then from the least to the most demanding level. If a machine has the features
// of two levels, the later one is the better choice.
const std::vector<CpuLevel>& cpu_level_table();

// REQUIRES: the table holds `name`.
const CpuLevel& cpu_level(std::string_view name);

// True if `low` comes before `high` in the table. REQUIRES: the table holds both.
bool ascend(std::string_view low, std::string_view high);

// The level that "native" stands for: the highest of this machine, "x86-64-v3"; "generic"
// elsewhere.
std::string native_cpu_level();

// The lowest x86-64 level that has all of "+avx2,+fma", in LLVM's spelling. Usage error: a word is
// not such a feature.
Result<std::string> level_with_features(const std::string& features);

// Names from the table, ascending; empty for an unknown architecture.
std::vector<std::string> allowed_cpu_levels(std::string_view architecture);
std::vector<std::string> default_cpu_levels(std::string_view architecture);

// "x86-64, x86-64-v2, x86-64-v3, x86-64-v4, native, or a CPU of LLVM such as haswell ..."
std::string describe_allowed_cpu_levels(std::string_view architecture);

// LLVM's -mattr for a level, such as "-avx512fp16,-xop": switches off everything that a CPU of this
// name might have but `features` does not list, so that the code needs nothing else. Levels have
// fixed features. For x86-64-v3 and x86-64-v4 it also asks for loads in place of gathers, and for
// x86-64-v4 for full-width vectors: 0.84 to 0.94 of the time of nets that XLA's loops dominate.
std::string compiler_features(const CpuLevel& level);

}  // namespace tfaot::toolkit
