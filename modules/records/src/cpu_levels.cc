// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/cpu_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "cpu_names.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit {
namespace {

using Names = std::vector<std::string>;

constexpr const char* kNative = "native";

Names names_in(std::string_view text) {
  std::istringstream in{std::string(text)};
  return {std::istream_iterator<std::string>(in), {}};
}

bool is_level(const std::string& name) {
  return name == "generic" || name == "x86-64" || name.starts_with("x86-64-v");
}

// The levels of x86-64 that have their own kernels. psABI's v2 adds nothing that helps to multiply.
bool has_kernels(const std::string& name) { return is_level(name) && name != "x86-64-v2"; }

bool includes(const CpuLevel& level, const CpuLevel& part) {
  return std::includes(level.features.begin(), level.features.end(), part.features.begin(),
                       part.features.end());
}

void add_row(std::string_view architecture, const CpuRow& row, std::vector<CpuLevel>& table) {
  CpuLevel level{.architecture = std::string(architecture), .name = ""};
  level.features = names_in(row.features);
  for (const CpuLevel& other : table) {
    if (other.name != row.like) continue;
    level.features.insert(level.features.end(), other.features.begin(), other.features.end());
  }
  std::sort(level.features.begin(), level.features.end());
  for (const std::string& name : names_in(row.names)) {
    level.name = name;
    level.is_cpu = !is_level(name);
    level.by_default = has_kernels(name);
    if (has_kernels(name)) level.kernels = replace_all(name, "-", "_");
    for (const CpuLevel& other : table) {
      if (has_kernels(name) || other.architecture != architecture) continue;
      if (has_kernels(other.name) && includes(level, other)) level.kernels = other.kernels;
    }
    table.push_back(level);
  }
}

std::vector<CpuLevel> make_table() {
  std::vector<CpuLevel> table;
  for (const CpuRow& row : x86_64_cpus()) add_row("x86_64", row, table);
  table.push_back({.architecture = "x86_64", .name = kNative});
  for (const CpuRow& row : aarch64_cpus()) add_row("aarch64", row, table);
  return table;
}

template <class Predicate>
Names names_where(std::string_view architecture, Predicate predicate) {
  Names names;
  for (const CpuLevel& level : cpu_level_table()) {
    if (level.architecture == architecture && predicate(level)) names.push_back(level.name);
  }
  return names;
}

}  // namespace

const std::vector<CpuLevel>& cpu_level_table() {
  static const std::vector<CpuLevel> table = make_table();
  return table;
}

const CpuLevel& cpu_level(std::string_view name) {
  const auto& table = cpu_level_table();
  return *std::find_if(table.begin(), table.end(),
                       [&](const CpuLevel& level) { return level.name == name; });
}

bool ascend(std::string_view low, std::string_view high) {
  return &cpu_level(low) < &cpu_level(high);
}

std::string native_cpu_level() {
#if defined(__x86_64__)
  // Compares features: clang 14 does not know the levels by name.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return "x86-64-v4";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
      __builtin_cpu_supports("fma")) {
    return "x86-64-v3";
  }
  if (__builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt")) return "x86-64-v2";
  return "x86-64";
#else
  return "generic";
#endif
}

std::vector<std::string> allowed_cpu_levels(std::string_view architecture) {
  return names_where(architecture, [](const CpuLevel&) { return true; });
}

std::vector<std::string> default_cpu_levels(std::string_view architecture) {
  return names_where(architecture, [](const CpuLevel& level) { return level.by_default; });
}

std::string describe_allowed_cpu_levels(std::string_view architecture) {
  const Names levels = names_where(architecture, [](const CpuLevel& l) { return !l.is_cpu; });
  const char* examples =
      architecture == "aarch64" ? "cortex-a72 or neoverse-n1" : "haswell or znver4";
  return fmt::format("{}, or a CPU of LLVM such as {} (see docs/config.md)", join(levels, ", "),
                     examples);
}

std::string compiler_features(const CpuLevel& level) {
  // LLVM would collect the addresses that each kernel call needs in a gather, which takes longer
  // than loads on most CPUs, and in x86-64-v4 use only half-width vectors, because some CPUs slow
  // down on wide ones.
  if (level.name == "x86-64-v3") return "+prefer-no-gather";
  if (level.name == "x86-64-v4") return "+prefer-no-gather,-prefer-256-bit";
  if (!level.is_cpu) return "";
  // Loads that fault unless a program switches the CPU's mode.
  std::set<std::string> absent;
  if (level.architecture == "x86_64") absent.insert("sse-unaligned-mem");
  for (const CpuLevel& other : cpu_level_table()) {
    if (other.architecture == level.architecture) {
      absent.insert(other.features.begin(), other.features.end());
    }
  }
  for (const std::string& feature : level.features) absent.erase(feature);
  return absent.empty() ? "" : fmt::format("-{}", fmt::join(absent, ",-"));
}

}  // namespace tfaot::toolkit
