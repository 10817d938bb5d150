// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/cpu_features.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace {

#if defined(__x86_64__)

enum Register { kEax, kEbx, kEcx, kEdx };
// The registers that the operating system must save before a feature can be used, as in XCR0.
enum Saved : std::uint64_t { kAnyway = 0, kYmm = 0x6, kZmm = 0xe6, kTiles = 0x60000 };

struct Feature {
  const char* name;
  std::uint32_t leaf, subleaf;
  Register place;
  int bit;
  Saved saved;
};

constexpr std::uint32_t kExtended = 0x80000001;

constexpr Feature kFeatures[] = {
    {"amx-bf16", 7, 0, kEdx, 22, kTiles},
    {"amx-int8", 7, 0, kEdx, 25, kTiles},
    {"avx", 1, 0, kEcx, 28, kYmm},
    {"avx2", 7, 0, kEbx, 5, kYmm},
    {"avx512bf16", 7, 1, kEax, 5, kZmm},
    {"avx512bitalg", 7, 0, kEcx, 12, kZmm},
    {"avx512bw", 7, 0, kEbx, 30, kZmm},
    {"avx512cd", 7, 0, kEbx, 28, kZmm},
    {"avx512dq", 7, 0, kEbx, 17, kZmm},
    {"avx512f", 7, 0, kEbx, 16, kZmm},
    {"avx512fp16", 7, 0, kEdx, 23, kZmm},
    {"avx512ifma", 7, 0, kEbx, 21, kZmm},
    {"avx512vbmi", 7, 0, kEcx, 1, kZmm},
    {"avx512vbmi2", 7, 0, kEcx, 6, kZmm},
    {"avx512vl", 7, 0, kEbx, 31, kZmm},
    {"avx512vnni", 7, 0, kEcx, 11, kZmm},
    {"avx512vpopcntdq", 7, 0, kEcx, 14, kZmm},
    {"avxifma", 7, 1, kEax, 23, kYmm},
    {"avxneconvert", 7, 1, kEdx, 5, kYmm},
    {"avxvnni", 7, 1, kEax, 4, kYmm},
    {"avxvnniint16", 7, 1, kEdx, 10, kYmm},
    {"avxvnniint8", 7, 1, kEdx, 4, kYmm},
    {"bmi", 7, 0, kEbx, 3, kAnyway},
    {"bmi2", 7, 0, kEbx, 8, kAnyway},
    {"cmpccxadd", 7, 1, kEax, 7, kAnyway},
    {"cx16", 1, 0, kEcx, 13, kAnyway},
    {"f16c", 1, 0, kEcx, 29, kYmm},
    {"fma", 1, 0, kEcx, 12, kYmm},
    {"fma4", kExtended, 0, kEcx, 16, kYmm},
    {"gfni", 7, 0, kEcx, 8, kAnyway},
    {"lzcnt", kExtended, 0, kEcx, 5, kAnyway},
    {"movbe", 1, 0, kEcx, 22, kAnyway},
    {"popcnt", 1, 0, kEcx, 23, kAnyway},
    {"sahf", kExtended, 0, kEcx, 0, kAnyway},
    {"sse3", 1, 0, kEcx, 0, kAnyway},
    {"sse4.1", 1, 0, kEcx, 19, kAnyway},
    {"sse4.2", 1, 0, kEcx, 20, kAnyway},
    {"sse4a", kExtended, 0, kEcx, 6, kAnyway},
    {"ssse3", 1, 0, kEcx, 9, kAnyway},
    {"tbm", kExtended, 0, kEcx, 21, kAnyway},
    {"xop", kExtended, 0, kEcx, 11, kYmm},
};

bool cpuid_bit(const Feature& feature) {
  std::uint32_t registers[4] = {};
  if (__get_cpuid_count(feature.leaf, 0, &registers[kEax], &registers[kEbx], &registers[kEcx],
                        &registers[kEdx]) == 0) {
    return false;
  }
  if (feature.subleaf != 0) {
    if (registers[kEax] < feature.subleaf) return false;
    __cpuid_count(feature.leaf, feature.subleaf, registers[kEax], registers[kEbx], registers[kEcx],
                  registers[kEdx]);
  }
  return (registers[feature.place] >> feature.bit & 1U) != 0;
}

// XCR0, the mask of registers that the operating system saves; 0 if it cannot be read.
std::uint64_t saved_registers() {
  constexpr Feature kOsXsave = {"osxsave", 1, 0, kEcx, 27, kAnyway};
  if (!cpuid_bit(kOsXsave)) return 0;
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return std::uint64_t{high} << 32U | low;
}

std::vector<std::string> look() {
  const std::uint64_t saved = saved_registers();
  std::vector<std::string> found;
  for (const Feature& feature : kFeatures) {
    if ((saved & feature.saved) == feature.saved && cpuid_bit(feature)) {
      found.emplace_back(feature.name);
    }
  }
  return found;
}

#elif defined(__aarch64__)

// Bits of the kernel's AT_HWCAP and AT_HWCAP2 (its arch/arm64/include/uapi/asm/hwcap.h).
struct Feature {
  const char* name;
  std::uint64_t first, second;
};

constexpr std::uint64_t bit(int number) { return std::uint64_t{1} << number; }

constexpr Feature kFeatures[] = {
    {"altnzcv", 0, bit(7)},
    {"bf16", 0, bit(14)},
    {"complxnum", bit(14), 0},
    {"cssc", 0, bit(34)},
    {"dotprod", bit(20), 0},
    {"flagm", bit(27), 0},
    {"fp16fml", bit(23), 0},
    {"fptoint", 0, bit(8)},
    {"fullfp16", bit(9) | bit(10), 0},  // scalar and vector
    {"i8mm", 0, bit(13)},
    {"jsconv", bit(13), 0},
    {"lse", bit(8), 0},
    {"lse2", bit(25), 0},
    {"rcpc", bit(15), 0},
    {"rcpc-immo", bit(26), 0},
    {"rdm", bit(12), 0},
    {"sha3", bit(17) | bit(21), 0},  // with SHA-512
    {"sve", bit(22), 0},
    {"sve2", 0, bit(1)},
    {"sve2-bitperm", 0, bit(4)},
};

std::vector<std::string> look() {
  const std::uint64_t first = getauxval(AT_HWCAP);
  const std::uint64_t second = getauxval(AT_HWCAP2);
  std::vector<std::string> found;
  for (const Feature& feature : kFeatures) {
    if ((first & feature.first) == feature.first && (second & feature.second) == feature.second) {
      found.emplace_back(feature.name);
    }
  }
  return found;
}

#else

std::vector<std::string> look() { return {}; }

#endif

}  // namespace

std::vector<std::string> detect_cpu_features() {
  std::vector<std::string> found = look();
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> missing_features(const char* needed,
                                          const std::vector<std::string>& offered) {
  std::vector<std::string> missing;
  std::string_view rest = needed;
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(rest.size(), name.size() + 1));
    if (!name.empty() && std::find(offered.begin(), offered.end(), name) == offered.end()) {
      missing.emplace_back(name);
    }
  }
  return missing;
}

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
