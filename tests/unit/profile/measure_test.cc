// SPDX-License-Identifier: Apache-2.0
// With runners whose clock is a number.
#include "tfaot/profile/measure.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace tfaot::toolkit {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// Takes `ns` for a call of a row, and says in `said` what it was asked.
class FakeRunner final : public Runner {
 public:
  FakeRunner(std::string name, double ns, std::vector<std::string>& said)
      : name_(std::move(name)), ns_(ns), said_(said) {}

  Result<Disagreement> prepare(std::int64_t rows) override {
    rows_ = rows;
    return Disagreement{0.5, 2};
  }
  Result<Timing> time(std::int64_t calls) override {
    said_.push_back(fmt::format("{} {}", name_, calls));
    if (fails) return fail(Error("the runner is gone"));
    const double wall = ns_ * static_cast<double>(calls * rows_);
    return Timing{wall, wall / 2};
  }
  Result<std::optional<Allocations>> allocations(std::int64_t) override {
    return std::optional<Allocations>();
  }
  Result<std::vector<double>> operations(std::int64_t) override { return std::vector<double>(); }
  Result<MemoryUse> memory() override { return MemoryUse{2048, 1024}; }

  bool fails = false;

 private:
  std::string name_;
  double ns_;
  std::int64_t rows_ = 1;
  std::vector<std::string>& said_;
};

TEST(Measure, FindsCallsThatFillARound) {
  std::vector<std::string> said;
  FakeRunner runner("a", 100, said);
  EXPECT_EQ(calls_for_round(runner, std::chrono::microseconds(10)).value(), 100);
  EXPECT_THAT(said, ElementsAre("a 1", "a 4", "a 16"));
  FakeRunner slow("b", 1e9, said);
  EXPECT_EQ(calls_for_round(slow, std::chrono::microseconds(10)).value(), 1);
}

TEST(Measure, LetsTheRunnersTakeTurns) {
  std::vector<std::string> said;
  FakeRunner first("a", 1000, said);
  FakeRunner second("b", 2000, said);
  const auto sizes = measure_size({&first, &second}, 4, {3, std::chrono::microseconds(8)});
  ASSERT_TRUE(sizes) << sizes.error().text();
  EXPECT_THAT(said, ElementsAre("a 1", "b 1",  // calibration
                                "a 2", "b 1", "b 1", "a 2", "a 2", "b 1"));
  ASSERT_EQ(sizes->size(), 2U);
  const ProfiledSize& a = sizes->front();
  EXPECT_EQ(a.rows, 4);
  EXPECT_EQ(a.calls, 2);
  EXPECT_THAT(a.rounds, ElementsAre(4000, 4000, 4000));
  EXPECT_EQ(a.call.median, 4000);
  EXPECT_EQ(a.busy, 0.5);
  EXPECT_EQ(a.difference, 0.5);
  EXPECT_EQ(a.largest, 2);
  EXPECT_EQ(a.resident, 2048);
  EXPECT_EQ(a.proportional, 1024);
  EXPECT_EQ(a.allocations, -1);
  EXPECT_THAT(sizes->back().rounds, Each(8000));
}

TEST(Measure, TakesTheProcessorsTime) {
  std::vector<std::string> said;
  FakeRunner runner("a", 1000, said);
  const auto sizes =
      measure_size({&runner}, 1, {2, std::chrono::microseconds(8), ProfileClock::kProcessor});
  ASSERT_TRUE(sizes) << sizes.error().text();
  EXPECT_THAT(sizes->front().rounds, ElementsAre(500, 500));
  EXPECT_EQ(sizes->front().busy, 0.5);
}

TEST(Measure, StopsAtTheFirstError) {
  std::vector<std::string> said;
  FakeRunner runner("a", 100, said);
  runner.fails = true;
  const auto sizes = measure_size({&runner}, 1, {});
  ASSERT_FALSE(sizes);
  EXPECT_EQ(sizes.error().text(), "the runner is gone");
}

TEST(Measure, SeesNoNoiseInEqualTimes) {
  std::vector<std::string> said;
  FakeRunner runner("a", 100, said);
  EXPECT_EQ(measure_noise(runner, {}).value(), 0);
}

}  // namespace
}  // namespace tfaot::toolkit
