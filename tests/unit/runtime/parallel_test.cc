// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/runtime/allocations.h"
#include "tests/unit/runtime/fake_model.h"
#include "tests/unit/runtime/parallel_parts.h"
#include "tfaot/runtime/detail/kernel_tasks.h"
#include "tfaot/runtime/detail/tasks.h"

namespace {

using tfaot_test::Asked;
using tfaot_test::expect_one_more;
using tfaot_test::Floats;
using tfaot_test::in_threads;
using tfaot_test::numbers;
using tfaot_test::Plain;
using tfaot_test::Task;

TEST(Parallel, RunsEveryNumberOfRowsInThreads) {
  Plain model;
  model.set_parallelism({in_threads, 3, 5});
  for (std::size_t rows = 0; rows < 150; ++rows) {
    const Floats x = numbers(4 * rows);
    Floats y(4 * rows);
    model.run(rows, x, y);
    expect_one_more(x, y);
  }
}

TEST(Parallel, SharesAlignmentsOfSeveralTensors) {
  tfaot::native::Model<tfaot_model::fake> model;
  model.set_parallelism({in_threads, 4, 1});
  for (const std::size_t rows : {2U, 17U, 64U, 65U, 131U}) {
    const Floats x = numbers(3 * rows);
    std::vector<std::int64_t> n(2 * rows, 4);
    Floats sum(2 * rows);
    const std::unique_ptr<bool[]> flag(new bool[rows]());
    model.run(rows, tfaot::inputs(x, n), tfaot::outputs(sum, tfaot::Span<bool>(flag.get(), rows)));
    for (std::size_t i = 0; i < rows; ++i) {
      ASSERT_EQ(sum[2 * i], tfaot_test::kWeight * (x[3 * i] + x[3 * i + 1] + x[3 * i + 2]));
      ASSERT_EQ(sum[2 * i + 1], 8);
      ASSERT_EQ(flag[i], i > 0);
    }
  }
}

// The models of several threads, each with its own tasks.
TEST(Parallel, WorksInSeveralModelsAtATime) {
  in_threads(3, [](std::size_t seed) {
    Plain model;
    model.set_parallelism({in_threads, 2, 16});
    for (std::size_t rows = 30 + seed; rows < 60; ++rows) {
      const Floats x = numbers(4 * rows);
      Floats y(4 * rows);
      model.run(rows, x, y);
      expect_one_more(x, y);
    }
  });
}

TEST(Parallel, CutsWholeChunksAndLeavesSmallBatchesAlone) {
  Plain model;  // sizes 4 and 16
  Asked asked;
  model.set_parallelism(asked.with(4, 20));
  const auto run = [&](std::size_t rows) {
    const Floats x = numbers(4 * rows);
    Floats y(4 * rows);
    tfaot_test::calls() = {};
    model.run(rows, x, y);
    expect_one_more(x, y);
    return tfaot_test::calls().count;
  };
  run(39);
  EXPECT_TRUE(asked.counts.empty());
  run(40);                // two tasks of 32 and 8 rows
  EXPECT_EQ(run(80), 5);  // four tasks of 32, 32, 16 rows: the fourth has nothing to do
  EXPECT_EQ(run(1000), 64);
  EXPECT_EQ(asked.counts, (std::vector<std::size_t>{2, 3, 4}));
}

TEST(Parallel, LeavesRulesToTheCallingThread) {
  Plain model;
  Asked asked;
  model.set_parallelism(asked.with(2, 4));
  model.set_batch_rule(tfaot::BatchRule("32:16,4,4,4,4"));
  const Floats x = numbers(4 * 32);
  Floats y(4 * 32);
  tfaot_test::calls() = {};
  model.run(32, x, y);
  EXPECT_EQ(tfaot_test::calls().count, 5);
  EXPECT_TRUE(asked.counts.empty());
}

TEST(Parallel, IsOffWithoutAnExecutorOrWithOneTask) {
  Plain model;
  const Floats x = numbers(4 * 64);
  Floats y(4 * 64);
  model.set_parallelism({nullptr, 8, 1});
  model.run(64, x, y);
  expect_one_more(x, y);
  Asked asked;
  model.set_parallelism(asked.with(1, 1));
  model.run(64, x, y);
  EXPECT_TRUE(asked.counts.empty());
}

// Serially and in tasks, with the code of the level that the model reports.
template <class Model>
void expect_added(Model& model, const char* level, float added) {
  EXPECT_STREQ(model.cpu_level(), level);
  const Floats x = numbers(4 * 64);
  Floats y(4 * 64);
  for (const bool parallel : {false, true}) {
    if (parallel) model.set_parallelism({in_threads, 2, 8});
    model.run(64, x, y);
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_EQ(y[i], x[i] + added) << level << (parallel ? ", in tasks" : "");
    }
  }
}

TEST(Parallel, RunsTheCodeOfTheModelsLevel) {
  using Leveled = tfaot::native::Model<tfaot_model::leveled>;
  const auto abacus = tfaot::CpuChoice::of_features({"abacus"});
  Leveled best(abacus);
  expect_added(best, tfaot_test::kAbacusLevel, 100);
  Leveled base(tfaot::CpuChoice::of_features({}));
  expect_added(base, tfaot_test::kBaseLevel, 1);
  Leveled forced(abacus.at_level(tfaot_test::kBaseLevel));
  expect_added(forced, tfaot_test::kBaseLevel, 1);
  tfaot::native::Model<tfaot_model::demanding> demanding(abacus);
  expect_added(demanding, tfaot_test::kAbacusLevel, 100);
}

// Kernels that share their work in other threads compute as in the caller's.
TEST(Parallel, KernelsTakeTheCallersDenormalsAlong) {
  using tfaot::detail::Denormals;
  using tfaot::detail::FloatScope;
  const tfaot::Executor executor = in_threads;
  tfaot::KernelTasks tasks(executor, 3, 0);
  for (const Denormals caller : {Denormals::kZero, Denormals::kKept}) {
    const FloatScope scope(caller);
    std::vector<Denormals> seen(12,
                                caller == Denormals::kZero ? Denormals::kKept : Denormals::kZero);
    tasks.tasks()->run(
        *tasks.tasks(), 12,
        [](void* context, std::int64_t piece, std::int64_t /*lane*/) {
          (*static_cast<std::vector<Denormals>*>(context))[static_cast<std::size_t>(piece)] =
              FloatScope::of_this_thread();
        },
        &seen);
    EXPECT_EQ(seen, std::vector<Denormals>(12, caller));
  }
}

TEST(Parallel, PassesTheExecutorsExceptionOn) {
  Plain model;
  model.set_parallelism(
      {[](std::size_t, const Task&) { throw std::runtime_error("no threads"); }, 2, 1});
  const Floats x = numbers(4 * 64);
  Floats y(4 * 64);
  EXPECT_THROW(model.run(64, x, y), std::runtime_error);
}

// As oneTBB does in a cancelled task group. The next call is whole again.
TEST(Parallel, ThrowsIfTheExecutorLeavesOutTasks) {
  Plain model;
  std::vector<std::size_t> wanted;
  model.set_parallelism({[&](std::size_t, const Task& task) {
                           for (const std::size_t i : wanted) task(i);
                         },
                         3, 1});
  const Floats x = numbers(4 * 96);
  Floats y(4 * 96);
  const auto error = [&](std::vector<std::size_t> tasks) -> std::string {
    wanted = std::move(tasks);
    try {
      model.run(96, x, y);
    } catch (const tfaot::Error& thrown) {
      EXPECT_EQ(thrown.code(), tfaot::Category::kFailedRun);
      return thrown.what();
    }
    return "";
  };
  const std::string left_out =
      "FailedRun: the executor left out tasks, so outputs are missing; was it cancelled?";
  EXPECT_EQ(error({}), left_out);
  EXPECT_EQ(error({2}), left_out);
  EXPECT_EQ(error({0, 1, 1}), left_out) << "one ran twice";
  EXPECT_EQ(error({2, 0, 1}), "");
  expect_one_more(x, y);
}

TEST(Parallel, AllocatesNothingInACall) {
  tfaot::native::Model<tfaot_model::fake> model;
  model.set_parallelism({[](std::size_t count, const Task& task) {
                           for (std::size_t i = 0; i < count; ++i) task(i);
                         },
                         4, 1});
  const Floats x(3 * 101);
  const std::vector<std::int64_t> n(2 * 101);
  Floats sum(2 * 101);
  const std::unique_ptr<bool[]> flag(new bool[101]());
  const std::size_t before = tfaot_test::allocations();
  model.run(101, tfaot::inputs(x, n), tfaot::outputs(sum, tfaot::Span<bool>(flag.get(), 101)));
  EXPECT_EQ(tfaot_test::allocations(), before);
}

TEST(Parallel, StaysWithAMovedModel) {
  Plain first;
  first.set_parallelism({in_threads, 2, 8});
  Plain second = std::move(first);
  const Floats x = numbers(4 * 64);
  Floats y(4 * 64);
  second.run(64, x, y);
  expect_one_more(x, y);
}

TEST(Parallel, SharesRowsOfUnknownCostFrom128OnEach) {
  Plain model;
  Asked asked;
  model.set_parallelism(asked.with(2, 0));
  for (const std::size_t rows : {255U, 256U}) {
    const Floats x = numbers(4 * rows);
    Floats y(4 * rows);
    model.run(rows, x, y);
    expect_one_more(x, y);
    EXPECT_EQ(asked.counts.size(), rows / 256);
  }
}

}  // namespace
