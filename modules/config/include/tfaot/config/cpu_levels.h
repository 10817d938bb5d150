// SPDX-License-Identifier: Apache-2.0
// The CPU levels a package can hold code for: one table, ascending, which config, its JSON Schema
// and its manual read. Pure functions, safe from many threads.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tfaot {

struct CpuLevel {
  std::string architecture;  // first part of the target triple
  std::string name;          // LLVM's name of the CPU
  std::string kernels = {};  // the highest level of our kernels in it, as their symbols say it
  bool by_default = false;   // compiled when the config names no levels
};

// By architecture, then from the least to the most demanding level.
const std::vector<CpuLevel>& cpu_level_table();

// REQUIRES: the table holds `name`.
const CpuLevel& cpu_level(std::string_view name);

// "x86_64" of "x86_64-unknown-linux-gnu".
std::string target_machine(std::string_view target_triple);

// Names from the table, ascending; empty for an unknown architecture.
std::vector<std::string> allowed_cpu_levels(std::string_view architecture);
std::vector<std::string> default_cpu_levels(std::string_view architecture);

}  // namespace tfaot
