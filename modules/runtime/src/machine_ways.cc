// SPDX-License-Identifier: Apache-2.0
// Apart from the other sources, so that a plugin asks for AMX's permission only if it has a kernel
// that uses it.
#include "tfaot/runtime/detail/machine_ways.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tfaot/runtime/detail/cpu_features.h"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>

extern "C" long syscall(long number, ...) noexcept;  // of <unistd.h>, and all that is needed of it
#endif

std::uint64_t tfaot_machine_ways = 0;

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {
namespace {

struct WayRow {
  detail::MachineWay way;
  const char* feature;
  bool needs_tiles;
  int place;  // in tfaot_machine_instructions
};
constexpr WayRow kWays[] = {
    {detail::kByteWords, "avx512vnni", false, 0},  {detail::kBfloat16Words, "avx512bf16", false, 0},
    {detail::kByteTiles, "amx-int8", true, 0},     {detail::kBfloat16Tiles, "amx-bf16", true, 0},
    {detail::kByteTables, "avx512vbmi", false, 0}, {detail::kHalfByteWords, "avxvnni", false, 1},
};

// The kernel saves AMX's tiles for those processes only that asked for it. True if it does.
bool may_use_tiles() {
#if defined(__x86_64__) && defined(__linux__)
  constexpr long kRequestPermission = 0x1023, kTileData = 18;  // Linux' asm/prctl.h
  return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
#else
  return false;
#endif
}

// True if a list of words has this one, or "all".
bool names(const std::string& list, const std::string& word) {
  const auto has = [&](const std::string& wanted) {
    return (" " + list + " ").find(" " + wanted + " ") != std::string::npos;
  };
  return has(word) || has("all");
}

__attribute__((constructor)) void find_ways() {
  const char* const without = std::getenv("TFAOT_CPU_WITHOUT");
  std::string forbidden = without == nullptr ? "" : without;
  std::replace(forbidden.begin(), forbidden.end(), ',', ' ');
  const auto features = detect_cpu_features();
  static char found[2][64] = {"", ""};
  for (const WayRow& row : kWays) {
    const bool has = std::find(features.begin(), features.end(), row.feature) != features.end();
    if (has && !names(forbidden, row.feature) && (!row.needs_tiles || may_use_tiles())) {
      tfaot_machine_ways |= row.way;
      char* const list = found[row.place];
      if (*list != 0) std::strcat(list, " ");
      std::strcat(list, row.feature);
    }
  }
  for (int i : {0, 1}) tfaot_machine_instructions[i] = found[i];
}

}  // namespace
}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
