// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/batch_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/unit/runtime/allocations.h"
#include "tests/unit/runtime/expect_error.h"
#include "tests/unit/runtime/fake_model.h"

namespace {

using tfaot_test::calls;
using Sizes = std::vector<std::size_t>;

// Rows of tfaot_model::fake at any position, and their expected results.
struct Rows {
  explicit Rows(std::size_t count, std::size_t shift = 0)
      : rows(count),
        x(3 * count + shift),
        n(2 * count + shift),
        sum(2 * count + shift + 1, -99),
        flag(new bool[count + shift + 1]()) {
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t k = 0; k < 3; ++k)
        x[shift + 3 * i + k] = static_cast<float>(static_cast<int>((7 * i + k) % 11) - 5);
      for (std::size_t k = 0; k < 2; ++k)
        n[shift + 2 * i + k] = static_cast<std::int64_t>(i * 10 + k);
    }
    inputs[0] = x.data() + shift;
    inputs[1] = n.data() + shift;
    outputs[0] = sum.data() + shift;
    outputs[1] = flag.get() + shift;
    offset = shift;
  }

  void run(tfaot::BatchRunner& runner) { runner.run(rows, inputs, outputs); }

  void check() const {
    for (std::size_t i = 0; i < rows; ++i) {
      const float* row = x.data() + offset + 3 * i;
      ASSERT_EQ(sum[offset + 2 * i], tfaot_test::kWeight * (row[0] + row[1] + row[2]))
          << "row " << i << " of " << rows;
      ASSERT_EQ(sum[offset + 2 * i + 1], static_cast<float>(20 * i + 1))
          << "row " << i << " of " << rows;
      ASSERT_EQ(flag[offset + i], row[0] > 0) << "row " << i << " of " << rows;
    }
    for (std::size_t i = 0; i < offset; ++i)
      ASSERT_EQ(sum[i], -99) << "written before the first row";
    ASSERT_EQ(sum.back(), -99) << "written after the last row";
  }

  std::size_t rows;
  std::size_t offset = 0;
  std::vector<float> x;
  std::vector<std::int64_t> n;
  std::vector<float> sum;
  std::unique_ptr<bool[]> flag;
  const void* inputs[2] = {};
  void* outputs[2] = {};
};

class BatchRunnerTest : public testing::Test {
 protected:
  BatchRunnerTest() : runner_(tfaot_model::fake::description()) { calls() = {}; }
  ~BatchRunnerTest() override { EXPECT_EQ(calls().failure, nullptr) << calls().failure; }

  // The batch sizes of the compiled code that was called.
  static Sizes called() { return {calls().batches, calls().batches + std::min(calls().count, 64)}; }

  tfaot::BatchRunner runner_;
};

TEST_F(BatchRunnerTest, RunsEveryNumberOfRowsAtEveryAlignment) {
  for (std::size_t shift = 0; shift < 4; ++shift) {
    for (std::size_t count = 0; count < 40; ++count) {
      Rows rows(count, shift);
      rows.run(runner_);
      rows.check();
    }
  }
}

TEST_F(BatchRunnerTest, DoesNothingForNoRows) {
  runner_.run(0, nullptr, nullptr);
  EXPECT_EQ(calls().count, 0);
}

TEST_F(BatchRunnerTest, WorksOnTheCallersMemoryWhenItIsAligned) {
  Rows rows(4);
  rows.run(runner_);
  EXPECT_EQ(calls().last_input, rows.inputs[0]);
  EXPECT_EQ(calls().last_output, rows.outputs[0]);
}

TEST_F(BatchRunnerTest, StagesWhatIsNotAligned) {
  Rows rows(4, 1);
  rows.run(runner_);
  EXPECT_NE(calls().last_input, rows.inputs[0]);
  EXPECT_NE(calls().last_output, rows.outputs[0]);
  rows.check();
}

TEST_F(BatchRunnerTest, WorksInPlaceOnFullChunksAndStagesThePaddedOne) {
  tfaot::BatchRunner runner(tfaot_model::plain::description());  // 4 and 16 rows of 16 bytes
  std::vector<float> x(4 * 19, 1);
  std::vector<float> y(4 * 19);
  const void* const inputs[] = {x.data()};
  void* const outputs[] = {y.data()};
  runner.set_rule(tfaot::BatchRule("20:16,4"));
  runner.run(16, inputs, outputs);
  EXPECT_EQ(calls().last_output, y.data());
  runner.run(19, inputs, outputs);
  EXPECT_EQ(called(), (Sizes{16, 16, 4}));
  EXPECT_NE(calls().last_output, y.data() + 64);
  EXPECT_EQ(y, std::vector<float>(4 * 19, 2));
}

// plain adds 1 to its input: its results for the pad rows show what they contained.
TEST_F(BatchRunnerTest, PadsWithZeros) {
  tfaot::BatchRunner runner(tfaot_model::plain::description());
  std::vector<float> x(4 * 4, 7);
  std::vector<float> y(4 * 4);
  const void* const inputs[] = {x.data()};
  void* const outputs[] = {y.data()};
  runner.run(3, inputs, outputs);
  runner.run(1, inputs, outputs);
  const float* seen = static_cast<const float*>(calls().last_output);
  EXPECT_EQ(std::vector<float>(seen, seen + 16),
            (std::vector<float>{8, 8, 8, 8, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_EQ(y[12], 0) << "pad rows must not reach the caller's memory";
}

TEST_F(BatchRunnerTest, ComposesWhatIsNotCompiled) {
  Rows rows(11);
  rows.run(runner_);
  EXPECT_EQ(called(), (Sizes{8, 2, 1}));
}

TEST_F(BatchRunnerTest, FollowsARuleEvenForACompiledSize) {
  runner_.set_rule(tfaot::BatchRule("4:2,2"));
  runner_.set_rule(tfaot::BatchRule("3:1,4"));
  Rows four(4);
  four.run(runner_);
  EXPECT_EQ(called(), (Sizes{2, 2}));
  Rows three(3);
  three.run(runner_);
  EXPECT_EQ(called(), (Sizes{2, 2, 1, 4}));
  four.check();
  three.check();
}

TEST_F(BatchRunnerTest, FollowsMeasuredCostsUnlessARuleSaysOtherwise) {
  tfaot::BatchRunner runner(tfaot_model::tuned::description());
  std::vector<float> x(4 * 21, 1);
  std::vector<float> y(4 * 21);
  const void* const inputs[] = {x.data()};
  void* const outputs[] = {y.data()};
  runner.run(16, inputs, outputs);
  runner.run(21, inputs, outputs);
  EXPECT_EQ(called(), (Sizes{4, 4, 4, 4, 4, 4, 4, 4, 4, 4}));
  EXPECT_EQ(y, std::vector<float>(4 * 21, 2));
  calls() = {};
  runner.set_rule(tfaot::BatchRule("16:16"));
  runner.set_rule(tfaot::BatchRule("21:16,16"));
  runner.run(16, inputs, outputs);
  runner.run(21, inputs, outputs);
  EXPECT_EQ(called(), (Sizes{16, 16, 16}));
}

TEST_F(BatchRunnerTest, RefusesRulesOfSizesThatAreNotCompiled) {
  const std::string text =
      "UnknownBatchSize: model 'fake': the rule for batch size 5 uses size 3, but compiled sizes "
      "are 1, 2, "
      "4, 8";
  EXPECT_EQ(tfaot_test::error_of([&] { runner_.set_rule(tfaot::BatchRule("5:2,3")); }), text);
  tfaot::BatchStrategy strategy;
  strategy.setRule(tfaot::BatchRule("4:2,2"));
  strategy.setRule(tfaot::BatchRule("5:2,3"));
  EXPECT_EQ(tfaot_test::error_of([&] { runner_.set_strategy(strategy); }), text);
  EXPECT_FALSE(runner_.strategy().hasRule(4));
}

TEST_F(BatchRunnerTest, AllocatesOnceForStagingAndNeverAgain) {
  Rows aligned(8);
  Rows shifted(7, 1);
  Rows many(39);
  runner_.set_rule(tfaot::BatchRule("5:1,4"));
  Rows ruled(5, 1);
  std::size_t before = tfaot_test::allocations();
  aligned.run(runner_);
  EXPECT_EQ(tfaot_test::allocations(), before);
  shifted.run(runner_);
  EXPECT_GT(tfaot_test::allocations(), before);
  before = tfaot_test::allocations();
  for (Rows* rows : {&aligned, &shifted, &many, &ruled}) rows->run(runner_);
  EXPECT_EQ(tfaot_test::allocations(), before);
}

TEST_F(BatchRunnerTest, RunsAfterAMove) {
  Rows shifted(7, 1);
  shifted.run(runner_);
  tfaot::BatchRunner moved = std::move(runner_);
  Rows other(13, 3);
  other.run(moved);
  other.check();
}

TEST(BatchRunner, RunsCoupledRowsInOneCallOrNotAtAll) {
  tfaot::BatchRunner runner(tfaot_model::coupled::description());
  std::vector<float> x(4 * 17, 1);
  std::vector<float> y(4 * 17);
  const auto run = [&](std::size_t rows, std::size_t shift = 0) {
    const void* const inputs[] = {x.data() + shift};
    void* const outputs[] = {y.data() + shift};
    runner.run(rows, inputs, outputs);
  };
  calls() = {};
  run(0);
  run(16);
  run(4);
  run(16, 1);  // staged
  EXPECT_EQ(calls().count, 3);
  EXPECT_EQ((Sizes{calls().batches, calls().batches + 3}), (Sizes{16, 4, 16}));
  calls() = {};
  for (const std::size_t rows : {1, 2, 3, 5, 8, 15, 17, 20, 32, 1000000}) {
    EXPECT_EQ(tfaot_test::error_of([&] { run(rows); }),
              "UnknownBatchSize: model 'plain': " + std::to_string(rows) +
                  " rows cannot be run, because rows of a batch depend on each other "
                  "(compilation.rows: coupled); compiled batch sizes: 4, 16");
  }
  EXPECT_EQ(calls().count, 0);
}

TEST(BatchRunner, RefusesRulesThatComposeCoupledRows) {
  tfaot::BatchRunner runner(tfaot_model::coupled::description());
  runner.set_rule(tfaot::BatchRule("16:16"));
  for (const char* const rule : {"16:4,4,4,4", "5:16", "20:16,4", "3:4"}) {
    const tfaot::BatchRule composed{std::string(rule)};
    EXPECT_EQ(tfaot_test::error_of([&] { runner.set_rule(composed); }),
              "InvalidBatchRule: model 'plain': the rule for batch size " +
                  std::to_string(composed.getBatchSize()) +
                  " composes it, but rows of a batch depend on each other "
                  "(compilation.rows: coupled)");
  }
  EXPECT_EQ(runner.strategy().rules().size(), 1U);
}

TEST(BatchRunner, NeedsAProgram) {
  const tfaot::Description model = {"empty", "1", nullptr, 0, nullptr, 0, nullptr, 0, nullptr, 0};
  EXPECT_EQ(tfaot_test::error_of([&] { tfaot::BatchRunner runner(model); }),
            "EmptySizes: a batch plan needs at least one size");
}

// A model without inputs has staging memory for its outputs alone.
TEST(BatchRunner, AllocatesStagingOnceWithoutInputs) {
  const tfaot::EntryFunction fill = [](void*, const void*, const void**, void** table, void*,
                                       std::int64_t*) {
    for (int row = 0; row < 4; ++row) static_cast<float*>(table[0])[row] = 7;
  };
  const tfaot::BufferSlot slots[] = {{tfaot::BufferKind::kOutput, 0, 0, 16}};
  const tfaot::Code codes[] = {{tfaot_test::kBaseLevel, "", fill, slots, 1, 0, 0}};
  const tfaot::Program programs[] = {{4, codes, 1}};
  const tfaot::TensorInfo outputs[] = {{"y", tfaot::DType::kFloat32, nullptr, 0, 1}};
  const tfaot::Description description = {"constant", "1.0.0",  nullptr, 0,       outputs,
                                          1,          programs, 1,       nullptr, 0};
  tfaot::BatchRunner runner(description);
  float y[3] = {};
  void* const out[] = {y};
  runner.run(3, nullptr, out);  // padded
  EXPECT_EQ(y[2], 7);
  const std::size_t before = tfaot_test::allocations();
  runner.run(3, nullptr, out);
  EXPECT_EQ(tfaot_test::allocations(), before);
}

}  // namespace
