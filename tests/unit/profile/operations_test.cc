// SPDX-License-Identifier: Apache-2.0
#include "tfaot/profile/measure.h"

#include <gmock/gmock.h>

namespace tfaot::toolkit {
namespace {

using ::testing::HasSubstr;

// Ten ticks a call: six in a loop, of which five in a product, three in another operation. If
// disturbed, another process has the core during one of these in each third group.
class CountingRunner final : public Runner {
 public:
  Result<Disagreement> prepare(std::int64_t) override { return Disagreement{}; }
  Result<Timing> time(std::int64_t calls) override {
    const double wall = 2000 * static_cast<double>(calls);
    return Timing{wall, wall};
  }
  Result<std::optional<Allocations>> allocations(std::int64_t) override {
    return std::optional<Allocations>();
  }
  Result<std::vector<double>> operations(std::int64_t calls) override {
    std::vector<double> ticks = {3, 10, 6, 5, 0};
    for (double& one : ticks) one *= static_cast<double>(calls);
    if (disturbed && ++groups_ % 3 == 0) {
      ticks[1] += 1e6;
      ticks[groups_ % 2 == 0 ? 0 : 2] += 1e6;
    }
    return ticks;
  }
  Result<MemoryUse> memory() override { return MemoryUse{}; }
  bool disturbed = false;

 private:
  int groups_ = 0;
};

CountedCode counted_code() {
  return {
      4,
      "x86-64-v3",
      5,
      1,
      {{"%fusion.1 = f32[4,8]{1,0} fusion(f32[2]{0}), kind=kLoop", "loop fusion", "", 0, "net/add"},
       {"while.1", "while", "", 2},
       {"%dot.1 = (f32[4]{0}, u8[64]{0}) custom-call(f32[2]{0})", "kernel gemm", "body.1", 3},
       {"idle.1", "copy", "", 4}}};
}

TEST(ProfiledOperations, AreSharesOfACall) {
  CountingRunner runner;
  const auto found = measure_operations(runner, counted_code(), {});
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_EQ(found->rows, 4);
  EXPECT_EQ(found->cpu_level, "x86-64-v3");
  EXPECT_EQ(found->instrumented, 2000);
  ASSERT_EQ(found->operations.size(), 4U);
  EXPECT_EQ(found->operations[0].name, "while.1");
  EXPECT_DOUBLE_EQ(found->operations[0].share, 0.6);
  EXPECT_EQ(found->operations[1].name, "dot.1 f32[4]");
  EXPECT_EQ(found->operations[1].inside, "body.1");
  EXPECT_EQ(found->operations[1].category, "kernel gemm");
  EXPECT_EQ(found->operations[2].name, "fusion.1 f32[4,8]");
  EXPECT_EQ(found->operations[2].origin, "net/add");
  EXPECT_EQ(found->operations[3].name, "between operations");
  EXPECT_NEAR(found->operations[3].share, 0.1, 1e-12);
}

TEST(ProfiledOperations, IgnoreDisturbances) {
  CountingRunner runner;
  runner.disturbed = true;
  const auto found = measure_operations(runner, counted_code(), {});
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_DOUBLE_EQ(found->operations.at(0).share, 0.6);
  EXPECT_DOUBLE_EQ(found->operations.at(2).share, 0.3);
  EXPECT_DOUBLE_EQ(found->operations.at(3).share, 0.1);
}

TEST(ProfiledOperations, NeedTheCountersOfTheCode) {
  CountingRunner runner;
  CountedCode code = counted_code();
  code.counters = 6;
  const auto found = measure_operations(runner, code, {});
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().text(), HasSubstr("the runner has 5 counters instead of 6"));
}

}  // namespace
}  // namespace tfaot::toolkit
