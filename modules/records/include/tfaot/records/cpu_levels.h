// SPDX-License-Identifier: Apache-2.0
// The CPU levels a package can hold code for: the levels of the x86-64 psABI, the CPUs that LLVM
// knows by name, and what code for each may use. One table, which config, its JSON Schema, its
// manual, the compiler's options and the generated headers read. Pure functions, safe from many
// threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tfaot::toolkit {

struct CpuLevel {
  std::string architecture;  // first part of the target triple
  std::string name;          // LLVM's name of the CPU; "native": see native_cpu_level()
  bool is_cpu = false;       // a processor such as "znver4", not a level such as "x86-64-v3"
  bool by_default = false;   // compiled when the config names no levels
  // What its code needs of a machine beyond the architecture itself, in LLVM's words. Left out are
  // instructions that the compiler makes only on request (cryptography, AMX, system calls, ...).
  std::vector<std::string> features = {};
  std::string kernels = {};  // the highest level of our kernels in it, as their symbols say it
};

// By architecture, then from the least to the most demanding level: of two, the later one is the
// better choice for a machine that has the features of both.
const std::vector<CpuLevel>& cpu_level_table();

// REQUIRES: the table holds `name`.
const CpuLevel& cpu_level(std::string_view name);

// Whether `low` comes before `high` in the table. REQUIRES: it holds both.
bool ascend(std::string_view low, std::string_view high);

// The highest level of this machine, as "native" means it: "x86-64-v3", or "generic" elsewhere.
std::string native_cpu_level();

// Names from the table, ascending; empty for an unknown architecture.
std::vector<std::string> allowed_cpu_levels(std::string_view architecture);
std::vector<std::string> default_cpu_levels(std::string_view architecture);

// "x86-64, x86-64-v2, x86-64-v3, x86-64-v4, native, or a CPU of LLVM such as haswell ..."
std::string describe_allowed_cpu_levels(std::string_view architecture);

// LLVM's -mattr for a level: "-avx512fp16,-xop", all that a CPU of this name might have and
// `features` does not tell, so that the code needs no more than that. Levels have fixed features;
// x86-64-v4 is told to use all of its vectors: a tenth faster (docs/measurements.md).
std::string compiler_features(const CpuLevel& level);

}  // namespace tfaot::toolkit
