// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/wrapper.h"

#include <gtest/gtest.h>

#include <type_traits>
#include <utility>
#include <vector>

#include "tests/unit/runtime/expect_error.h"
#include "tests/unit/runtime/fake_model.h"

namespace {

using tfaot_model::fake;
using tfaot_test::error_of;
using Counts = std::vector<std::size_t>;

static_assert(std::is_move_constructible_v<fake> && std::is_move_assignable_v<fake>);
static_assert(!std::is_copy_constructible_v<fake> && !std::is_copy_assignable_v<fake>);

TEST(Wrapper, TellsAboutTheModel) {
  const fake model;
  EXPECT_EQ(model.name(), "fake");
  EXPECT_EQ(model.batchSizes(), (Counts{1, 2, 4, 8}));
  EXPECT_EQ(model.nBatchSizes(), 4U);
  EXPECT_TRUE(model.hasBatchSize(4));
  EXPECT_FALSE(model.hasBatchSize(3));
  EXPECT_EQ(model.nArgs(), 2U);
  EXPECT_EQ(model.argCountsNoBatch(), (Counts{3, 2}));
  EXPECT_EQ(model.argCounts().at(4), (Counts{12, 8}));
  EXPECT_EQ(model.argCount(4, 1), 8);
  EXPECT_EQ(model.argCountNoBatch(1), 2);
  EXPECT_EQ(model.nResults(), 2U);
  EXPECT_EQ(model.resultCountsNoBatch(), (Counts{2, 1}));
  EXPECT_EQ(model.resultCounts().at(8), (Counts{16, 8}));
  EXPECT_EQ(model.resultCount(8, 0), 16);
  EXPECT_EQ(model.resultCountNoBatch(1), 1);
}

TEST(Wrapper, RunsOnItsOwnMemory) {
  fake model;
  tfaot_test::calls() = {};
  for (int i = 0; i < 6; ++i) model.argData<float>(2, 0)[i] = static_cast<float>(i);
  for (int i = 0; i < 4; ++i) model.argData<std::int64_t>(2, 1)[i] = i;
  EXPECT_TRUE(model.runSilent(2));
  const fake& seen = model;
  EXPECT_EQ(seen.resultData<float>(2, 0)[0], 7.5F);
  EXPECT_EQ(seen.resultData<float>(2, 0)[2], 30);
  EXPECT_EQ(seen.resultData<float>(2, 0)[3], 5);
  EXPECT_FALSE(seen.resultData<bool>(2, 1)[0]);
  EXPECT_TRUE(seen.resultData<bool>(2, 1)[1]);
  EXPECT_EQ(seen.argData<float>(2, 0)[5], 5);
  EXPECT_EQ(tfaot_test::calls().failure, nullptr);
}

TEST(Wrapper, KeepsTheMemoryOfBatchSizesApart) {
  fake model;
  for (const std::size_t size : model.batchSizes()) {
    for (int i = 0; i < model.argCount(size, 0); ++i)
      model.argData<float>(size, 0)[i] = static_cast<float>(size);
    for (int i = 0; i < model.argCount(size, 1); ++i)
      model.argData<std::int64_t>(size, 1)[i] = static_cast<int>(size);
  }
  for (const std::size_t size : model.batchSizes()) model.run(size);
  for (const std::size_t size : model.batchSizes()) {
    for (int i = 0; i < model.resultCount(size, 0); i += 2) {
      EXPECT_EQ(model.resultData<float>(size, 0)[i], 7.5F * static_cast<float>(size));
    }
  }
}

TEST(Wrapper, KeepsItsPointersWhenMoved) {
  fake first;
  float* const x = first.argData<float>(1, 0);
  x[0] = 2;
  fake second = std::move(first);
  EXPECT_EQ(second.argData<float>(1, 0), x);
  second.run(1);
  EXPECT_EQ(second.resultData<float>(1, 0)[0], 5);
  fake third;
  third = std::move(second);
  x[0] = 4;
  third.run(1);
  EXPECT_EQ(third.resultData<float>(1, 0)[0], 10);
  EXPECT_EQ(third.name(), "fake");
}

TEST(Wrapper, RefusesWhatItDoesNotKnow) {
  fake model;
  EXPECT_EQ(error_of([&] { model.runSilent(3); }),
            "UnknownBatchSize: batch size 3 not known to model 'fake' in 'runSilent()'");
  EXPECT_EQ(error_of([&] { model.argData<float>(3, 0); }),
            "UnknownBatchSize: batch size 3 not known to model 'fake' in 'argData()'");
  EXPECT_EQ(error_of([&] { model.argData<float>(1, 2); }),
            "UnknownArgument: argument 2 not known to model 'fake' in 'argData()'");
  EXPECT_EQ(error_of([&] { model.argCount(1, 2); }),
            "UnknownArgument: argument 2 not known to model 'fake' in 'argCount()'");
  EXPECT_EQ(error_of([&] { model.argCount(16, 0); }),
            "UnknownBatchSize: batch size 16 not known to model 'fake' in 'argCount()'");
  EXPECT_EQ(error_of([&] { model.argCountNoBatch(2); }),
            "UnknownArgument: argument 2 not known to model 'fake' in 'argCountNoBatch()'");
  EXPECT_EQ(error_of([&] { model.resultData<float>(0, 0); }),
            "UnknownBatchSize: batch size 0 not known to model 'fake' in 'resultData()'");
  EXPECT_EQ(error_of([&] { model.resultData<float>(1, 2); }),
            "UnknownResult: result 2 not known to model 'fake' in 'resultData()'");
  EXPECT_EQ(error_of([&] { model.resultCount(1, 9); }),
            "UnknownResult: result 9 not known to model 'fake' in 'resultCount()'");
  EXPECT_EQ(error_of([&] { model.resultCountNoBatch(9); }),
            "UnknownResult: result 9 not known to model 'fake' in 'resultCountNoBatch()'");
}

TEST(Wrapper, RefusesTheWrongElementType) {
  fake model;
  EXPECT_EQ(error_of([&] { model.argData<double>(1, 0); }),
            "InputMismatch: model 'fake': 'x' is of type float32, not float64");
  EXPECT_EQ(error_of([&] { model.argData<std::int32_t>(1, 1); }),
            "InputMismatch: model 'fake': 'n' is of type int64, not int32");
  EXPECT_EQ(error_of([&] { model.resultData<float>(1, 1); }),
            "OutputMismatch: model 'fake': 'flag' is of type bool, not float32");
}

}  // namespace
