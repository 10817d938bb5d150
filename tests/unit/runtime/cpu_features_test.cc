// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/cpu_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "tests/unit/runtime/fake_model.h"

namespace {

using Names = std::vector<std::string>;

TEST(MissingFeatures, AreThoseNotOffered) {
  EXPECT_EQ(tfaot::missing_features("", {}), Names{});
  EXPECT_EQ(tfaot::missing_features("avx avx2 fma", {"avx", "fma"}), Names{"avx2"});
  EXPECT_EQ(tfaot::missing_features("avx", {"avx2", "av"}), Names{"avx"});
  EXPECT_EQ(tfaot::missing_features(" sse4.1  sse4.2 ", {}), (Names{"sse4.1", "sse4.2"}));
}

// What the kernel derived from the same CPUID, XCR0 or ID registers, by its own names.
std::set<std::string> kernel_flags() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("flags", 0) != 0 && line.rfind("Features", 0) != 0) continue;
    std::istringstream words(line.substr(line.find(':') + 1));
    return {std::istream_iterator<std::string>(words), {}};
  }
  return {};
}

std::string kernel_name(const std::string& feature) {
  static const std::map<std::string, std::string> kOthers = {
      {"avx512bf16", "avx512_bf16"},
      {"avx512bitalg", "avx512_bitalg"},
      {"avx512fp16", "avx512_fp16"},
      {"avx512vbmi2", "avx512_vbmi2"},
      {"avx512vnni", "avx512_vnni"},
      {"avx512vpopcntdq", "avx512_vpopcntdq"},
      {"avxifma", "avx_ifma"},
      {"avxneconvert", "avx_ne_convert"},
      {"avxvnni", "avx_vnni"},
      {"avxvnniint16", "avx_vnni_int16"},
      {"avxvnniint8", "avx_vnni_int8"},
      {"bmi", "bmi1"},
      {"lzcnt", "abm"},
      {"sahf", "lahf_lm"},
      {"sse3", "pni"},
      {"sse4.1", "sse4_1"},
      {"sse4.2", "sse4_2"},
      {"altnzcv", "flagm2"},
      {"complxnum", "fcma"},
      {"dotprod", "asimddp"},
      {"fp16fml", "asimdfhm"},
      {"fptoint", "frint"},
      {"fullfp16", "asimdhp"},
      {"jsconv", "jscvt"},
      {"lse", "atomics"},
      {"lse2", "uscat"},
      {"rcpc", "lrcpc"},
      {"rcpc-immo", "ilrcpc"},
      {"rdm", "asimdrdm"},
      {"sve2-bitperm", "svebitperm"},
  };
  const auto other = kOthers.find(feature);
  return other == kOthers.end() ? feature : other->second;
}

TEST(DetectCpuFeatures, AgreesWithTheKernel) {
  const Names found = tfaot::detect_cpu_features();
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
  const std::set<std::string> flags = kernel_flags();
  ASSERT_FALSE(flags.empty());
  for (const std::string& feature : found) {
    EXPECT_EQ(flags.count(kernel_name(feature)), 1U) << feature;
  }
  // Everything that x86-64-v4 requires and znver5 adds, and most features in which aarch64 CPUs
  // differ.
  for (const char* feature : {"sse3",
                              "ssse3",
                              "sse4.1",
                              "sse4.2",
                              "popcnt",
                              "cx16",
                              "sahf",
                              "avx",
                              "avx2",
                              "bmi",
                              "bmi2",
                              "f16c",
                              "fma",
                              "lzcnt",
                              "movbe",
                              "avx512f",
                              "avx512bw",
                              "avx512cd",
                              "avx512dq",
                              "avx512vl",
                              "avx512vnni",
                              "avx512ifma",
                              "avx512vbmi",
                              "avx512vbmi2",
                              "avx512bf16",
                              "gfni",
                              "avx512fp16",
                              "avx512bitalg",
                              "avx512vpopcntdq",
                              "avxvnni",
                              "sse4a",
                              "xop",
                              "lse",
                              "rdm",
                              "dotprod",
                              "sve"}) {
    if (flags.count(kernel_name(feature)) == 0) continue;
    EXPECT_EQ(std::count(found.begin(), found.end(), feature), 1) << feature;
  }
}

}  // namespace
