// SPDX-License-Identifier: Apache-2.0
// Hashes of all numbers that a test's kernels give, kept in tests/golden/kernel_bits.txt: every CPU
// level with fused multiply-adds and every machine has the same (docs/reproducibility.md). A test
// that calls note_bits() compares them when it ends.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {

// Under sanitizers and by qemu, the hashes are all that is compared: values were compared with
// formulas on the machine itself, and equal bits are equal values.
#if defined(TFAOT_TEST_SLOWED)
constexpr bool kComparesValues = false;
#else
constexpr bool kComparesValues = true;
#endif

// FNV-1a over 64 bits; 0: there are none yet.
inline std::uint64_t& hash_of_test() {
  static std::uint64_t hash = 0;
  return hash;
}

// NaN are all the same: their bits are not promised.
template <typename T>
void note_bits(const T* results, Int count) {
  std::uint64_t& hash = hash_of_test();
  if (hash == 0) hash = 0xCBF29CE484222325U;
  for (Int i = 0; i < count; ++i) {
    std::uint64_t bits = 0;
    if (results[i] == results[i]) std::memcpy(&bits, &results[i], sizeof(T));
    for (std::size_t byte = 0; byte < sizeof(T); ++byte) {
      hash = (hash ^ (bits >> (8 * byte) & 0xFFU)) * 0x100000001B3U;
    }
  }
}
template <typename T>
void note_bits(const Tensor<T>& results) {
  note_bits(results.data(), results.size());
}

// Compares the hash of the test that ends with the kept one, whose line is "NAME HASH".
// TFAOT_UPDATE_GOLDEN=1 rewrites the line; run the whole program then, not its tests at once.
inline void check_noted_bits(const std::string& name) {
  std::ostringstream noted;
  noted << std::hex << hash_of_test();
  hash_of_test() = 0;
  const std::string file = TFAOT_GOLDEN_DIR "/kernel_bits.txt";
  std::map<std::string, std::string> kept;
  std::ifstream in(file);
  for (std::string test, hash; in >> test >> hash;) kept[test] = hash;
  if (std::getenv("TFAOT_UPDATE_GOLDEN") != nullptr) {
    kept[name] = noted.str();
    std::ofstream out(file);
    for (const auto& [test, hash] : kept) out << test << ' ' << hash << '\n';
    return;
  }
  EXPECT_EQ(kept[name], noted.str()) << name << " gives other bits than " << file
                                     << " has. If the order of sums changed on purpose, "
                                     << "TFAOT_UPDATE_GOLDEN=1 rewrites the line.";
}

}  // namespace tfaot::kernels_test
