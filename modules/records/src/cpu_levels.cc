// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/cpu_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include "cpu_names.h"
#include "tfaot/base/text.h"
#include "tfaot/kernels/levels.def"

namespace tfaot::toolkit {
namespace {

using Names = std::vector<std::string>;

constexpr const char* kNative = "native";

Names names_in(std::string_view text) {
  std::istringstream in{std::string(text)};
  return {std::istream_iterator<std::string>(in), {}};
}

// A row of levels.def.
struct LevelRow {
  std::string_view name;
  std::string_view kernels;   // the suffix of its own; empty: it has none
  std::string_view tuning;    // LLVM's -mattr
  std::string_view features;  // beyond those of the level before
};

#define TFAOT_ASKED(feature) feature " "
#define TFAOT_IMPLIED(feature) feature " "
#define TFAOT_ROW(x, name, suffix, options, tuning, vector_bytes, sums, rows, multiply_adds, \
                  features)                                                                  \
  {name, #suffix, tuning, "" features},
#define TFAOT_PLAIN_ROW(x, name, features) {name, "", "", "" features},
constexpr LevelRow kLevels[] = {TFAOT_LEVELS_OF_x86_64(TFAOT_ROW, TFAOT_PLAIN_ROW, )
                                    TFAOT_LEVELS_OF_aarch64(TFAOT_ROW, TFAOT_PLAIN_ROW, )};
#undef TFAOT_ASKED
#undef TFAOT_IMPLIED
#undef TFAOT_ROW
#undef TFAOT_PLAIN_ROW

// Null: it is a CPU.
const LevelRow* find_level(std::string_view name) {
  const auto* const found = std::ranges::find(kLevels, name, &LevelRow::name);
  return found == std::end(kLevels) ? nullptr : found;
}

bool includes(const CpuLevel& level, const CpuLevel& part) {
  return std::includes(level.features.begin(), level.features.end(), part.features.begin(),
                       part.features.end());
}

void add_row(std::string_view architecture, const CpuRow& row, std::vector<CpuLevel>& table) {
  CpuLevel cpu{.architecture = std::string(architecture), .name = ""};
  cpu.features = names_in(row.features);
  const auto add_features = [&](const Names& more) {
    cpu.features.insert(cpu.features.end(), more.begin(), more.end());
  };
  for (const CpuLevel& other : table) {
    if (other.name == row.like) add_features(other.features);
  }
  for (const std::string& name : names_in(row.names)) {
    const LevelRow* const level = find_level(name);
    if (level != nullptr) add_features(names_in(level->features));
    std::sort(cpu.features.begin(), cpu.features.end());
    cpu.name = name;
    cpu.is_cpu = level == nullptr;
    cpu.by_default = level != nullptr && !level->kernels.empty();
    if (cpu.by_default) cpu.kernels = level->kernels;
    for (const CpuLevel& other : table) {
      if (cpu.by_default || other.architecture != architecture) continue;
      if (other.by_default && includes(cpu, other)) cpu.kernels = other.kernels;
    }
    table.push_back(cpu);
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

// Asks for features: clang 14 does not know the levels by name.
std::string native_cpu_level() {
  std::string highest;
  bool runs = true;
#define TFAOT_ASKED(feature) &&__builtin_cpu_supports(feature)
#define TFAOT_IMPLIED(feature)
#define TFAOT_PLAIN_ROW(x, name, features) \
  runs = runs features;                    \
  if (runs) highest = name;
#define TFAOT_ROW(x, name, suffix, options, tuning, vector_bytes, sums, rows, multiply_adds, \
                  features)                                                                  \
  TFAOT_PLAIN_ROW(x, name, features)
  TFAOT_LEVELS_HERE(TFAOT_ROW, TFAOT_PLAIN_ROW, )
#undef TFAOT_ASKED
#undef TFAOT_IMPLIED
#undef TFAOT_ROW
#undef TFAOT_PLAIN_ROW
  return highest;
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
  if (const LevelRow* const row = find_level(level.name)) return std::string(row->tuning);
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
