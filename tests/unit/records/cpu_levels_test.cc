// SPDX-License-Identifier: Apache-2.0
#include "tfaot/records/cpu_levels.h"
#include "tfaot/base/real_file_system.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::count(names.begin(), names.end(), name) == 1;
}

TEST(CpuLevels, AreThePsabisAndLlvmsCpus) {
  const auto x86 = allowed_cpu_levels("x86_64");
  for (const char* name : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "native", "k8",
                           "haswell", "skylake-avx512", "znver4", "znver5", "sapphirerapids"}) {
    EXPECT_TRUE(has(x86, name)) << name;
  }
  const auto aarch64 = allowed_cpu_levels("aarch64");
  for (const char* name : {"generic", "cortex-a72", "neoverse-n1", "neoverse-v2", "a64fx"}) {
    EXPECT_TRUE(has(aarch64, name)) << name;
  }
  EXPECT_FALSE(has(aarch64, "native"));
  EXPECT_THAT(allowed_cpu_levels("riscv64"), IsEmpty());
}

TEST(CpuLevels, HaveEachNameOnceAndKnownOnes) {
  std::set<std::string> names;
  for (const CpuLevel& level : cpu_level_table()) {
    EXPECT_TRUE(names.insert(level.name).second) << level.name;
    EXPECT_EQ(level.kernels.empty(), level.name == "native") << level.name;
  }
}

bool includes(const CpuLevel& level, const CpuLevel& part) {
  return std::includes(level.features.begin(), level.features.end(), part.features.begin(),
                       part.features.end());
}

// So the last one that a machine can run is the best one.
TEST(CpuLevels, AscendPerArchitecture) {
  const auto& table = cpu_level_table();
  for (auto low = table.begin(); low != table.end(); ++low) {
    for (auto high = low + 1; high != table.end(); ++high) {
      if (low->architecture != high->architecture || high->name == "native") continue;
      EXPECT_FALSE(low->features != high->features && includes(*low, *high))
          << low->name << " needs more than " << high->name << " behind it";
      EXPECT_FALSE(low->features == high->features && low->is_cpu && !high->is_cpu)
          << "the CPU " << low->name << " is better than the level " << high->name << " behind it";
      EXPECT_LE(low->kernels, high->kernels) << low->name << ' ' << high->name;
    }
  }
}

TEST(CpuLevels, NeedWhatTheirCpuHas) {
  EXPECT_THAT(cpu_level("x86-64").features, IsEmpty());
  EXPECT_THAT(cpu_level("x86-64-v2").features,
              ElementsAre("cx16", "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"));
  EXPECT_THAT(cpu_level("x86-64-v3").features,
              ElementsAre("avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe",
                          "popcnt", "sahf", "sse3", "sse4.1", "sse4.2", "ssse3"));
  EXPECT_EQ(cpu_level("haswell").features, cpu_level("x86-64-v3").features);
  EXPECT_TRUE(has(cpu_level("znver4").features, "avx512bf16"));
  EXPECT_TRUE(has(cpu_level("znver4").features, "sse4a"));
  EXPECT_FALSE(has(cpu_level("sapphirerapids").features, "sse4a"));
  EXPECT_THAT(cpu_level("cortex-a72").features, IsEmpty());
  EXPECT_THAT(cpu_level("neoverse-n1").features,
              ElementsAre("dotprod", "fullfp16", "lse", "rcpc", "rdm"));
}

TEST(CpuLevels, CallTheKernelsOfTheHighestLevelInThem) {
  EXPECT_EQ(cpu_level("x86-64-v2").kernels, "x86_64");
  EXPECT_EQ(cpu_level("btver2").kernels, "x86_64");
  EXPECT_EQ(cpu_level("haswell").kernels, "x86_64_v3");
  EXPECT_EQ(cpu_level("knl").kernels, "x86_64_v3");
  EXPECT_EQ(cpu_level("skylake-avx512").kernels, "x86_64_v4");
  EXPECT_EQ(cpu_level("znver5").kernels, "x86_64_v4");
  EXPECT_EQ(cpu_level("neoverse-v2").kernels, "generic");
}

TEST(CpuLevels, LetTheCompilerUseNoMoreThanTheyNeed) {
  EXPECT_EQ(compiler_features(cpu_level("x86-64-v3")), "+prefer-no-gather");
  EXPECT_EQ(compiler_features(cpu_level("x86-64-v4")), "+prefer-no-gather,-prefer-256-bit");
  EXPECT_EQ(compiler_features(cpu_level("generic")), "");
  EXPECT_EQ(compiler_features(cpu_level("znver5")),
            "-avx512fp16,-avxifma,-avxneconvert,-avxvnniint16,-avxvnniint8,-cmpccxadd,-fma4,"
            "-sse-unaligned-mem,-tbm,-xop");
  const std::string neoverse = compiler_features(cpu_level("neoverse-v2"));
  EXPECT_EQ(neoverse, "-cssc,-sha3");
}

TEST(CpuLevels, TheLowestHasAllFeatures) {
  EXPECT_EQ(level_with_features("+sse2"), "x86-64");
  EXPECT_EQ(level_with_features("+sse4.2, +avx2,+fma"), "x86-64-v3");
  EXPECT_EQ(level_with_features("+avx512f"), "x86-64-v4");
  EXPECT_FALSE(level_with_features("+amx"));
  EXPECT_EQ(level_with_features("-avx").error().text(),
            "--target_features: '-avx' is unknown\n"
            "  x86-64: +cmov,+cx8,+fxsr,+mmx,+sse,+sse2,+x87\n"
            "  x86-64-v2: +crc32,+cx16,+popcnt,+sahf,+sse3,+sse4.1,+sse4.2,+ssse3\n"
            "  x86-64-v3: +avx,+avx2,+bmi,+bmi2,+f16c,+fma,+lzcnt,+movbe,+xsave\n"
            "  x86-64-v4: +avx512bw,+avx512cd,+avx512dq,+avx512f,+avx512vl");
}

TEST(CpuLevels, DefaultsSpanOldAndNewMachines) {
  EXPECT_THAT(default_cpu_levels("x86_64"), ElementsAre("x86-64", "x86-64-v3", "x86-64-v4"));
  EXPECT_THAT(default_cpu_levels("aarch64"), ElementsAre("generic"));
}

// The runtime includes no room and has its own table. An unknown feature there would keep code from
// running on any machine.
using Features = std::set<std::string>;

Features matches_in(const std::string& text, const std::regex& pattern) {
  Features found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern);
       match != std::sregex_iterator(); ++match) {
    found.insert((*match)[1]);
  }
  return found;
}

Features features_of(const std::string& architecture) {
  Features features;
  for (const CpuLevel& level : cpu_level_table()) {
    if (level.architecture != architecture) continue;
    features.insert(level.features.begin(), level.features.end());
  }
  return features;
}

std::string runtime_source() {
  return RealFileSystem()
      .read(Path(TFAOT_SOURCE_DIR) / "modules/runtime/src/cpu_features.cc")
      .value_or("");
}

TEST(CpuLevels, NeedWhatTheRuntimeLooksFor) {
  const std::string source = runtime_source();
  const std::size_t aarch64 = source.find("#elif defined(__aarch64__)\n\n");
  ASSERT_NE(aarch64, std::string::npos);
  const std::regex row("\n    \\{\"([a-z0-9.-]+)\", ");
  Features of_x86 = features_of("x86_64");
  of_x86.insert({"amx-bf16", "amx-int8"});  // of kernels alone: XLA's code has none of it
  EXPECT_EQ(matches_in(source.substr(0, aarch64), row), of_x86);
  EXPECT_EQ(matches_in(source.substr(aarch64), row), features_of("aarch64"));
}

TEST(CpuLevels, NativeIsTheHighestThatThisCpuRuns) {
#if defined(__x86_64__)
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line) && line.rfind("flags", 0) != 0) continue;
  std::istringstream words(line);
  const Features flags(std::istream_iterator<std::string>(words), {});
  ASSERT_TRUE(flags.contains("sse2"));
  const bool runs_v4 = flags.contains("avx512bw") && flags.contains("avx512vl");
  const bool runs_v3 = flags.contains("avx2") && flags.contains("fma");
  const bool runs_v2 = flags.contains("sse4_2");
  EXPECT_EQ(native_cpu_level(), runs_v4   ? "x86-64-v4"
                                : runs_v3 ? "x86-64-v3"
                                : runs_v2 ? "x86-64-v2"
                                          : "x86-64");
#else
  EXPECT_EQ(native_cpu_level(), "generic");
#endif
}

}  // namespace
}  // namespace tfaot::toolkit
