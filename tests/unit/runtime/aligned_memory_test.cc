// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/aligned_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <utility>

#include "tfaot/runtime/detail/description.h"

namespace {

// Pages of this process that are in memory, in bytes; 0 if the system does not say.
std::size_t resident_bytes() {
  std::size_t all = 0;
  std::size_t resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * 4096;
}

TEST(AlignedMemory, IsZeroedAndAligned) {
  for (const std::size_t bytes : {1U, 8U, 63U, 64U, 65U, 1000U, 4096U}) {
    const tfaot::AlignedMemory memory(bytes);
    const std::size_t size = tfaot::aligned_size(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % tfaot::kAlignment, 0U);
    EXPECT_EQ(std::count(memory.data(), memory.data() + size, std::byte{0}),
              static_cast<std::ptrdiff_t>(size));
    std::fill(memory.data(), memory.data() + size, std::byte{0xFF});
  }
  EXPECT_FALSE(tfaot::AlignedMemory(0));
}

TEST(AlignedMemory, StaysWhereItIsWhenItsOwnerMoves) {
  tfaot::AlignedMemory first(100);
  std::byte* const data = first.data();
  const tfaot::AlignedMemory second = std::move(first);
  EXPECT_EQ(second.data(), data);
}

TEST(AlignedMemory, CostsNothingBeforeItIsTouched) {
  constexpr std::size_t kBytes = std::size_t{128} << 20;
  const std::size_t before = resident_bytes();
  const tfaot::AlignedMemory memory(kBytes);
  EXPECT_EQ(memory.data()[kBytes - 1], std::byte{0});
  EXPECT_LT(resident_bytes(), before + kBytes / 2);
}

}  // namespace
