// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/cpu_levels.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "tfaot/base/text.h"
#include "tfaot/kernels/levels.def"

namespace tfaot::toolkit {
namespace {

// The CPUs that LLVM 19 knows, and which of their features its code generator uses by itself. Taken
// from `clang-19 --print-supported-cpus`, `-march=NAME -dM -E` and `--print-enabled-extensions`.

// Names of CPUs with the same features. A level comes before the CPUs, and levels.def has its
// features. `like` is a name from an earlier row whose features they have too.
struct CpuRow {
  std::string_view names;
  std::string_view like;
  std::string_view features;
};

// From the least to the most demanding: by the psABI level that they include, then by the number of
// features.
const std::vector<CpuRow>& x86_64_cpus() {
  static const std::vector<CpuRow> table = {
      {"x86-64 athlon-fx athlon64 k8 opteron", "", ""},
      {"athlon64-sse3 k8-sse3 opteron-sse3", "", "sse3"},
      {"nocona", "", "cx16 sse3"},
      {"core2", "nocona", "sahf ssse3"},
      {"atom bonnell", "core2", "movbe"},
      {"penryn", "core2", "sse4.1"},
      {"amdfam10 barcelona", "nocona", "lzcnt popcnt sahf sse4a"},
      {"btver1", "amdfam10", "ssse3"},
      {"x86-64-v2 corei7 nehalem westmere", "", ""},
      {"corei7-avx sandybridge", "x86-64-v2", "avx"},
      {"goldmont goldmont-plus silvermont slm", "x86-64-v2", "movbe"},
      {"core-avx-i ivybridge", "sandybridge", "f16c"},
      {"tremont", "goldmont", "gfni"},
      {"bdver1", "sandybridge", "fma4 lzcnt sse4a xop"},
      {"btver2", "ivybridge", "bmi lzcnt movbe sse4a"},
      {"bdver2 bdver3", "bdver1", "bmi f16c fma tbm"},
      {"x86-64-v3 broadwell core-avx2 haswell skylake", "x86-64-v2", ""},
      {"znver1 znver2 znver3", "x86-64-v3", "sse4a"},
      {"alderlake gracemont meteorlake raptorlake", "x86-64-v3", "avxvnni gfni"},
      {"knl", "x86-64-v3", "avx512cd avx512f"},
      {"knm", "knl", "avx512vpopcntdq"},
      {"bdver4", "bdver2", "avx2 bmi2 movbe"},
      {"arrowlake grandridge sierraforest", "alderlake",
       "avxifma avxneconvert avxvnniint8 cmpccxadd"},
      {"arrowlake-s clearwaterforest lunarlake pantherlake", "arrowlake", "avxvnniint16"},
      {"x86-64-v4 skx skylake-avx512", "x86-64-v3", ""},
      {"cascadelake", "x86-64-v4", "avx512vnni"},
      {"cannonlake", "x86-64-v4", "avx512ifma avx512vbmi"},
      {"cooperlake", "cascadelake", "avx512bf16"},
      {"icelake-client icelake-server rocketlake tigerlake", "cannonlake",
       "avx512bitalg avx512vbmi2 avx512vnni avx512vpopcntdq gfni"},
      {"znver4", "icelake-client", "avx512bf16 sse4a"},
      {"emeraldrapids graniterapids graniterapids-d sapphirerapids", "icelake-client",
       "avx512bf16 avx512fp16 avxvnni"},
      {"znver5", "znver4", "avxvnni"},
  };
  return table;
}

const std::vector<CpuRow>& aarch64_cpus() {
  static const std::vector<CpuRow> table = {
      {"generic apple-a7 cortex-a34 cortex-a35 cortex-a53 cortex-a57 cortex-a72 cortex-a73 "
       "exynos-m3 kryo thunderx thunderxt81 thunderxt83 thunderxt88",
       "", ""},
      {"apple-a10 falkor", "", "rdm"},
      {"thunderx2t99", "", "lse rdm"},
      {"apple-a11 carmel", "thunderx2t99", "fullfp16"},
      {"exynos-m4 exynos-m5", "apple-a11", "dotprod"},
      {"a64fx", "apple-a11", "complxnum sve"},
      {"cortex-a55 cortex-a65 cortex-a65ae cortex-a75 cortex-a76 cortex-a76ae cortex-a77 "
       "cortex-a78 cortex-a78ae cortex-x1 neoverse-e1 neoverse-n1",
       "apple-a11", "dotprod rcpc"},
      {"thunderx3t110", "thunderx2t99", "complxnum jsconv rcpc"},
      {"apple-a12", "thunderx3t110", "fullfp16"},
      {"cortex-a78c", "cortex-a55", "flagm"},
      {"tsv110", "apple-a11", "complxnum dotprod fp16fml jsconv"},
      {"cortex-x1c", "cortex-a78c", "lse2 rcpc-immo"},
      {"saphira", "thunderx3t110", "dotprod flagm lse2 rcpc-immo"},
      {"cortex-r82 cortex-r82ae", "tsv110", "flagm rcpc rcpc-immo"},
      {"apple-a13", "cortex-r82", "lse2 sha3"},
      {"apple-a14 apple-m1", "apple-a13", "altnzcv fptoint"},
      {"neoverse-512tvb neoverse-v1", "apple-a13", "bf16 i8mm sve"},
      {"ampere1 ampere1a apple-a15 apple-a16 apple-a17 apple-m2 apple-m3 apple-m4 oryon-1",
       "apple-a14", "bf16 i8mm"},
      {"ampere1b", "ampere1", "cssc"},
      {"cobalt-100 cortex-a510 cortex-a520 cortex-a520ae cortex-a710 cortex-a715 cortex-a720 "
       "cortex-a720ae cortex-a725 cortex-x2 cortex-x3 cortex-x4 cortex-x925 grace neoverse-n2 "
       "neoverse-n3 neoverse-v2 neoverse-v3 neoverse-v3ae",
       "cortex-r82", "altnzcv bf16 fptoint i8mm lse2 sve sve2 sve2-bitperm"},
  };
  return table;
}

using Names = std::vector<std::string>;

constexpr const char* kNative = "native";

// A row of levels.def.
struct LevelRow {
  std::string_view name;
  std::string_view kernels;   // the suffix of its own; empty: it has none
  std::string_view tuning;    // LLVM's -mattr
  bool by_default;            // compiled if a config names no levels
  std::string_view features;  // beyond those of the level before; '~' is before unlisted ones

  // In order; a level without any is that of a whole architecture.
  Names all_features() const {
    Names names = split_words(features, " ~");
    std::ranges::sort(names);
    return names;
  }
};

#define TFAOT_ASKED(feature) feature " "
#define TFAOT_IMPLIED(feature) feature " "
#define TFAOT_UNLISTED(feature) "~" feature " "
#define TFAOT_ROW(x, name, suffix, options, tuning, vector_bytes, sums, rows, multiply_adds, \
                  by_default, features)                                                      \
  {name, #suffix, tuning, by_default, "" features},
#define TFAOT_PLAIN_ROW(x, name, features) {name, "", "", false, "" features},
constexpr LevelRow kLevels[] = {TFAOT_LEVELS_OF_x86_64(TFAOT_ROW, TFAOT_PLAIN_ROW, )
                                    TFAOT_LEVELS_OF_aarch64(TFAOT_ROW, TFAOT_PLAIN_ROW, )};
#undef TFAOT_ASKED
#undef TFAOT_IMPLIED
#undef TFAOT_UNLISTED
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
  cpu.features = split_words(row.features);
  const auto add_features = [&](const Names& more) {
    cpu.features.insert(cpu.features.end(), more.begin(), more.end());
  };
  for (const CpuLevel& other : table) {
    if (other.name == row.like) add_features(other.features);
  }
  for (const std::string& name : split_words(row.names)) {
    const LevelRow* const level = find_level(name);
    if (level != nullptr) add_features(split_words(level->features));
    std::erase_if(cpu.features, [](const std::string& feature) { return feature[0] == '~'; });
    std::sort(cpu.features.begin(), cpu.features.end());
    cpu.name = name;
    cpu.is_cpu = level == nullptr;
    cpu.by_default = level != nullptr && level->by_default;
    for (const CpuLevel& other : table) {
      const bool fits = other.architecture == architecture && includes(cpu, other);
      if (fits && !other.is_cpu) cpu.kernels = other.kernels;
    }
    if (level != nullptr && !level->kernels.empty()) cpu.kernels = level->kernels;
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
  return *std::ranges::find(cpu_level_table(), name, &CpuLevel::name);
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
#define TFAOT_UNLISTED(feature)
#define TFAOT_PLAIN_ROW(x, name, features) \
  runs = runs features;                    \
  if (runs) highest = name;
#define TFAOT_ROW(x, name, suffix, options, tuning, vector_bytes, sums, rows, multiply_adds, \
                  by_default, features)                                                      \
  TFAOT_PLAIN_ROW(x, name, features)
  TFAOT_LEVELS_HERE(TFAOT_ROW, TFAOT_PLAIN_ROW, )
#undef TFAOT_ASKED
#undef TFAOT_IMPLIED
#undef TFAOT_UNLISTED
#undef TFAOT_ROW
#undef TFAOT_PLAIN_ROW
  return highest;
}

Result<std::string> level_with_features(const std::string& features) {
  const LevelRow* lowest = std::begin(kLevels);
  for (const std::string& feature : split_words(features, ", \t\r\n\f\v")) {
    const auto* const level = std::ranges::find_if(kLevels, [&](const LevelRow& row) {
      return feature[0] == '+' && std::ranges::count(row.all_features(), feature.substr(1)) > 0;
    });
    if (level == std::end(kLevels)) {
      Error error = Error::usage(fmt::format("--target_features: '{}' is unknown", feature));
      for (const LevelRow& row : kLevels) {
        if (row.features.empty()) continue;
        error.note(fmt::format("{}: +{}", row.name, join(row.all_features(), ",+")));
      }
      return fail(std::move(error));
    }
    lowest = std::max(lowest, level);
  }
  return std::string(lowest->name);
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
