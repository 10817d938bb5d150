// SPDX-License-Identifier: Apache-2.0
#include "compiler/kernels/machine_model.h"

#include <gtest/gtest.h>

#include "tfaot/records/cpu_levels.h"

namespace tfaot::toolkit::engine {
namespace {

TEST(MachineModel, KnowsEveryLevelWithKernels) {
  EXPECT_EQ(machine_of("x86_64").vector_bytes, 16);
  EXPECT_EQ(machine_of("x86_64_v3").vector_bytes, 32);
  EXPECT_EQ(machine_of("x86_64_v4").vector_bytes, 64);
  EXPECT_EQ(machine_of("generic").vector_bytes, 16);
  EXPECT_EQ(machine_of("generic").sums, 24);
  EXPECT_EQ(find_machine("x86_64_v9"), nullptr);
  for (const CpuLevel& level : cpu_level_table()) {
    EXPECT_EQ(find_machine(level.kernels) == nullptr, level.name == "native") << level.name;
  }
}

// 8 rows of 48 columns are one whole tile at x86-64-v4: 24 vectors, two per cycle.
TEST(MachineModel, TakesAWholeTileAtFullSpeed) {
  const Machine& machine = machine_of("x86_64_v4");
  const double longer = product_cycles(machine, {8, 48, 1001, 4});
  const double tile = product_cycles(machine, {8, 48, 1000, 4});
  EXPECT_EQ(longer - tile, 12);
  EXPECT_GT(tile, 12000);
  EXPECT_LT(tile, 12100);
}

TEST(MachineModel, PaysForWhatATileDoesNotUse) {
  const Machine& machine = machine_of("x86_64_v4");
  const double full = product_cycles(machine, {8, 128, 128, 4});
  EXPECT_GT(product_cycles(machine, {1, 128, 128, 4}), full / 8);
  EXPECT_EQ(product_cycles(machine, {8, 113, 128, 4}), full);
  EXPECT_GT(product_cycles(machine, {8, 128, 128, 8}), 1.9 * full);
  EXPECT_GT(product_cycles(machine_of("x86_64_v3"), {8, 128, 128, 4}), 1.9 * full);
}

TEST(MachineModel, ReadsSlowerWhatIsFartherAway) {
  double last = 0;
  for (const double bytes : {1e4, 5e5, 4e6, 1e9}) {
    EXPECT_GT(weight_cycles(bytes), last);
    last = weight_cycles(bytes);
  }
  EXPECT_EQ(wait_cycles(1e6), 0);
  EXPECT_GT(wait_cycles(1e7), 0);
  EXPECT_GT(wait_cycles(1e8), wait_cycles(1e7));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
