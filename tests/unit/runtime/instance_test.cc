// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/instance.h"

#include <gtest/gtest.h>

#include <cfenv>
#include <limits>
#include <type_traits>
#include <utility>

#include "tests/unit/runtime/allocations.h"
#include "tests/unit/runtime/expect_error.h"
#include "tests/unit/runtime/fake_model.h"
#include "tfaot/runtime/detail/batch_runner.h"

namespace {

using tfaot_test::calls;

static_assert(std::is_nothrow_move_constructible_v<tfaot::Instance>);
static_assert(!std::is_copy_constructible_v<tfaot::Instance>);

class InstanceTest : public testing::Test {
 protected:
  InstanceTest() { calls() = {}; }
  ~InstanceTest() override { EXPECT_EQ(calls().failure, nullptr) << calls().failure; }

  // Batch size 2.
  void run(tfaot::Instance& instance) {
    const void* const inputs[] = {x_, n_};
    void* const outputs[] = {sum_, flag_};
    instance.run(1, inputs, outputs);
  }

  alignas(16) float x_[6] = {1, 2, 3, -1, 0, 0};
  alignas(16) std::int64_t n_[4] = {1, 2, 3, 4};
  alignas(16) float sum_[4] = {};
  alignas(16) bool flag_[2] = {};
};

TEST_F(InstanceTest, FillsInTheTableAndCallsTheEntry) {
  tfaot::Instance instance(tfaot_model::fake::description());
  run(instance);
  EXPECT_EQ(calls().last_batch, 2U);
  EXPECT_EQ(calls().last_input, x_);
  EXPECT_EQ(calls().last_output, sum_);
  EXPECT_EQ(sum_[0], 15);
  EXPECT_EQ(sum_[1], 3);
  EXPECT_EQ(sum_[2], -2.5F);
  EXPECT_EQ(sum_[3], 7);
  EXPECT_TRUE(flag_[0]);
  EXPECT_FALSE(flag_[1]);
}

TEST_F(InstanceTest, AllocatesNothingInRun) {
  tfaot::Instance instance(tfaot_model::fake::description());
  const std::size_t before = tfaot_test::allocations();
  run(instance);
  EXPECT_EQ(tfaot_test::allocations(), before);
  EXPECT_GT(before, 0U);
}

// What is seen while the entry of `description`, a form of plain, runs.
struct SeenArithmetic {
  tfaot::detail::Denormals setting;
  float product;  // a denormal number times 2
  float third;
  float minus_third;
  float infinity;  // 1 divided by 0
};
SeenArithmetic seen_while_running(const tfaot::Description& description) {
  SeenArithmetic seen{};
  tfaot_test::while_running() = [&seen] {
    const volatile float denormal = 1e-39F;
    const volatile float zero = 0, one = 1;
    seen = {tfaot::detail::FloatScope::of_this_thread(), denormal * 2, one / 3, -one / 3,
            one / zero};
  };
  tfaot::Instance instance(description);
  alignas(16) float x[16] = {};
  alignas(16) float y[16] = {};
  const void* const inputs[] = {x};
  void* const outputs[] = {y};
  instance.run(0, inputs, outputs);
  return seen;
}

TEST_F(InstanceTest, DenormalsAreZeroInACallAndNowhereElse) {
  using tfaot::detail::Denormals;
  using tfaot::detail::FloatScope;
  ASSERT_EQ(FloatScope::of_this_thread(), Denormals::kKept);
  const SeenArithmetic seen = seen_while_running(tfaot_model::plain::description());
  EXPECT_EQ(seen.setting, Denormals::kZero);
  EXPECT_EQ(seen.product, 0);
  EXPECT_EQ(FloatScope::of_this_thread(), Denormals::kKept);
  const volatile float denormal = 1e-39F;
  EXPECT_GT(denormal * 2, 0);

  const FloatScope caller(Denormals::kZero);
  EXPECT_EQ(seen_while_running(tfaot_model::plain::description()).setting, Denormals::kZero);
  EXPECT_EQ(FloatScope::of_this_thread(), Denormals::kZero);
}

tfaot::Description with_float64_output() {
  static tfaot::TensorInfo wide = tfaot_model::plain::description().outputs[0];
  wide.dtype = tfaot::DType::kFloat64;
  tfaot::Description description = tfaot_model::plain::description();
  description.outputs = &wide;
  return description;
}

// Results, traps and flags depend on nothing that the caller has set, and all of it is back after
// the call.
TEST_F(InstanceTest, TheCallersArithmeticChangesNothingAndIsRestored) {
  const tfaot::Description narrow = tfaot_model::plain::description();
  const tfaot::Description wide = with_float64_output();
  std::fenv_t before;
  ASSERT_EQ(std::fegetenv(&before), 0);
  for (const tfaot::Description* model : {&narrow, &wide}) {
    const auto usual = seen_while_running(*model);
    EXPECT_EQ(usual.third, 1 / 3.0F);
    for (const int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}) {
      for (const auto denormals :
           {tfaot::detail::Denormals::kKept, tfaot::detail::Denormals::kZero}) {
        SeenArithmetic seen{};
        int flags = 0, trapped = 0, traps = 0, rounding_after = 0;
        auto denormals_after = denormals;
        {  // compared outside: here denormal numbers may equal zero
          const tfaot::detail::FloatScope caller(denormals);
          std::fesetround(rounding);
          std::feclearexcept(FE_ALL_EXCEPT);
          std::feraiseexcept(FE_OVERFLOW);
          traps = feenableexcept(FE_DIVBYZERO | FE_INVALID);
          seen = seen_while_running(*model);
          flags = std::fetestexcept(FE_ALL_EXCEPT);
          trapped = fegetexcept();
          fedisableexcept(FE_ALL_EXCEPT);
          rounding_after = std::fegetround();
          denormals_after = tfaot::detail::FloatScope::of_this_thread();
        }
        EXPECT_EQ(seen.setting, usual.setting);
        EXPECT_EQ(seen.product, usual.product);
        EXPECT_EQ(seen.third, usual.third);
        EXPECT_EQ(seen.minus_third, -usual.third);
        EXPECT_EQ(seen.infinity, std::numeric_limits<float>::infinity());
        EXPECT_EQ(rounding_after, rounding);
        EXPECT_EQ(flags & ~FE_INEXACT, FE_OVERFLOW);  // raising it may raise the other
        EXPECT_EQ(denormals_after, denormals);
        if (traps != -1) {  // some processors have none
          EXPECT_EQ(trapped & (FE_DIVBYZERO | FE_INVALID), FE_DIVBYZERO | FE_INVALID);
        }
      }
    }
  }
  std::fesetenv(&before);
}

TEST_F(InstanceTest, ModelsOfFloat64KeepDenormals) {
  tfaot::Description description = tfaot_model::plain::description();
  tfaot::TensorInfo wide = description.outputs[0];
  wide.dtype = tfaot::DType::kFloat64;
  tfaot::Description with_input = description;
  with_input.inputs = &wide;
  description.outputs = &wide;
  for (const tfaot::Description& one : {description, with_input}) {
    const SeenArithmetic seen = seen_while_running(one);
    EXPECT_EQ(seen.setting, tfaot::detail::Denormals::kKept);
    EXPECT_EQ(seen.product, 2e-39F);
  }
}

TEST_F(InstanceTest, RunsAfterAMove) {
  tfaot::Instance first(tfaot_model::fake::description());
  run(first);
  tfaot::Instance second = std::move(first);
  run(second);
  tfaot::Instance third(tfaot_model::plain::description());
  third = std::move(second);
  run(third);
  EXPECT_EQ(calls().count, 3);
  EXPECT_EQ(sum_[0], 15);
}

TEST_F(InstanceTest, SharesOneScratchOfTheLargestProgram) {
  EXPECT_EQ(tfaot::Instance(tfaot_model::fake::description()).scratch_bytes(), 64U + 4 * 8);
  EXPECT_EQ(tfaot::Instance(tfaot_model::plain::description()).scratch_bytes(), 0U);
}

TEST_F(InstanceTest, RunsAModelWithoutWeightsScratchOrResultTable) {
  tfaot::Instance instance(tfaot_model::plain::description());
  alignas(16) float x[16] = {1, 2};
  alignas(16) float y[16] = {};
  const void* const inputs[] = {x};
  void* const outputs[] = {y};
  instance.run(0, inputs, outputs);
  EXPECT_EQ(y[1], 3);
}

std::int64_t live_rows_seen = 0;
void note_live_rows(void*, const void*, const void**, void** table, void*, std::int64_t*) {
  live_rows_seen = *static_cast<const std::int64_t*>(table[1]);
}

TEST_F(InstanceTest, TellsCompiledCodeHowManyRowsCount) {
  const tfaot::BufferSlot slots[] = {{tfaot::BufferKind::kUnused, 0, 0, 0},
                                     {tfaot::BufferKind::kLiveRows, 0, 0, 8}};
  const tfaot::Code code = {"one", "", &note_live_rows, slots, 2, 0, 0};
  const tfaot::Program program = {8, &code, 1};
  const tfaot::Description model = {"live", "1", nullptr, 0, nullptr, 0, &program, 1, nullptr, 0};
  tfaot::Instance first(model, tfaot::CpuChoice::of_features({}));
  first.run(0, nullptr, nullptr, 5);
  EXPECT_EQ(live_rows_seen, 5);
  tfaot::Instance second = std::move(first);
  second.run(0, nullptr, nullptr);
  EXPECT_EQ(live_rows_seen, 8) << "all rows, after a move";
  tfaot::BatchRunner runner(model, tfaot::CpuChoice::of_features({}));
  runner.run(11, nullptr, nullptr);
  EXPECT_EQ(live_rows_seen, 3) << "of the last chunk";
}

// A model of sizes 1, 2 and 4 whose calls cost that much, measured and estimated.
struct CallCosts {
  std::uint64_t measured[3];
  std::uint64_t estimated[3];
  std::uint32_t live_permille = 0;
  tfaot::Padding padding = tfaot::Padding::kSkipped;
};

std::size_t first_chunk(const CallCosts& costs, std::size_t rows) {
  static constexpr tfaot::BufferSlot kSlots[] = {{tfaot::BufferKind::kUnused, 0, 0, 0}};
  tfaot::Code codes[3] = {};
  tfaot::Program programs[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    codes[i] = {"one",
                "",
                nullptr,
                kSlots,
                1,
                0,
                0,
                costs.measured[i],
                costs.estimated[i],
                costs.live_permille};
    programs[i] = {std::size_t{1} << i, &codes[i], 1};
  }
  const tfaot::Description model = {"costs", "1", nullptr, 0, nullptr, 0, programs, 3, nullptr, 0};
  const tfaot::BatchPlan plan =
      tfaot::Instance(model, tfaot::CpuChoice::of_features({})).batch_plan(costs.padding);
  return plan.sizes()[plan.next(rows)];
}

TEST_F(InstanceTest, PlansByMeasuredCostsBeforeEstimatedOnes) {
  EXPECT_EQ(first_chunk({{0, 0, 0}, {0, 0, 0}}, 3), 2U) << "a call of n rows costs n + 1";
  EXPECT_EQ(first_chunk({{0, 0, 0}, {100, 100, 110}}, 3), 4U) << "by the estimates";
  EXPECT_EQ(first_chunk({{9, 90, 90}, {100, 100, 110}}, 3), 1U) << "as measured";
  EXPECT_EQ(first_chunk({{9, 0, 90}, {100, 100, 110}}, 3), 4U) << "2 was not measured";
  EXPECT_EQ(first_chunk({{0, 0, 0}, {100, 0, 110}}, 3), 2U) << "2 was not estimated";
}

// A compiled size need not be the best way to run that many rows.
TEST_F(InstanceTest, LeavesACompiledSizeOutWhereTheEstimateSaysSo) {
  EXPECT_EQ(first_chunk({{0, 0, 0}, {30, 50, 120}}, 4), 2U);
  EXPECT_EQ(first_chunk({{0, 0, 0}, {30, 60, 120}}, 4), 4U) << "of equals, the larger";
}

// Rows of padding cost less only if the code gets their number.
TEST_F(InstanceTest, CountsPaddingByWhatTheCallerCanSkip) {
  EXPECT_EQ(first_chunk({{100, 190, 370}, {}, 1000}, 3), 4U) << "280 instead of 290";
  EXPECT_EQ(first_chunk({{100, 190, 370}, {}, 1000, tfaot::Padding::kComputed}, 3), 2U);
}

int called_level = 0;
void level_1(void*, const void*, const void**, void**, void*, std::int64_t*) { called_level = 1; }
void level_2(void*, const void*, const void**, void**, void*, std::int64_t*) { called_level = 2; }

TEST_F(InstanceTest, CallsTheCodeOfTheChosenLevel) {
  const tfaot::BufferSlot slots[] = {{tfaot::BufferKind::kUnused, 0, 0, 0}};
  const tfaot::Code codes[] = {{"one", "a", &level_1, slots, 1, 0, 0},
                               {"two", "a b", &level_2, slots, 1, 0, 100}};
  const tfaot::Program program = {1, codes, 2};
  const tfaot::Description model = {"levels", "1", nullptr, 0, nullptr, 0, &program, 1, nullptr, 0};
  const auto both = tfaot::CpuChoice::of_features({"a", "b"});
  tfaot::Instance(model, both).run(0, nullptr, nullptr);
  EXPECT_EQ(called_level, 2);
  tfaot::Instance low(model, both.at_level("one"));
  low.run(0, nullptr, nullptr);
  EXPECT_EQ(called_level, 1);
  EXPECT_STREQ(low.cpu_level(0), "one");
  EXPECT_EQ(low.scratch_bytes(), 0U);
  EXPECT_EQ(
      tfaot_test::error_of([&] { tfaot::Instance(model, tfaot::CpuChoice::of_features({"b"})); }),
      "UnsupportedCpu: model 'levels' has no code for this CPU: 'one' needs a, which this "
      "CPU lacks; compiled levels: one, two; this CPU can run: none");
}

}  // namespace
