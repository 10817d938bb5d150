// SPDX-License-Identifier: Apache-2.0
// Kernels that share their work among an executor's tasks.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <stdexcept>
#include <thread>
#include <vector>

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
using tfaot_test::Task;

// Code with one kernel that shares, a row a piece: y = x + 1, by way of its lane's scratch. Slots:
// 0 x, 1 y, 2 the address of tasks.
constexpr std::size_t kRowBytes = 4 * sizeof(float);
std::atomic<int> calls_alone{0};
std::atomic<int> calls_shared{0};

struct KernelCall {
  const float* x;
  float* y;
  tfaot::Tasks* tasks;
};

void add_one(void* context, std::int64_t row, std::int64_t lane) {
  const auto& call = *static_cast<const KernelCall*>(context);
  float* scratch = nullptr;
  Floats own(4);
  if (call.tasks == nullptr) {
    scratch = own.data();
  } else {
    EXPECT_LT(lane, call.tasks->lanes);
    scratch = reinterpret_cast<float*>(call.tasks->scratch +
                                       static_cast<std::size_t>(lane) * call.tasks->lane_bytes);
  }
  std::memcpy(scratch, call.x + 4 * row, kRowBytes);
  for (int i = 0; i < 4; ++i) scratch[i] += 1;
  std::memcpy(call.y + 4 * row, scratch, kRowBytes);
}

template <std::int64_t Rows>
void shared_entry(void*, const void*, const void**, void** table, void*, std::int64_t*) {
  KernelCall call = {static_cast<const float*>(table[0]), static_cast<float*>(table[1]), nullptr};
  std::memcpy(&call.tasks, table[2], sizeof call.tasks);
  if (call.tasks != nullptr) {
    ++calls_shared;
    return call.tasks->run(*call.tasks, Rows, &add_one, &call);
  }
  ++calls_alone;
  for (std::int64_t row = 0; row < Rows; ++row) add_one(&call, row, 0);
}

// Costs in microseconds.
template <std::size_t N, std::uint64_t Cost, std::uint32_t Permille>
struct shared_bs {
  static constexpr tfaot::BufferSlot kSlots[] = {{tfaot::BufferKind::kInput, 0, 0, kRowBytes* N},
                                                 {tfaot::BufferKind::kOutput, 0, 0, kRowBytes* N},
                                                 {tfaot::BufferKind::kTasks, 0, 0, 8}};
  static constexpr tfaot::Code kCodes[] = {{tfaot_test::kBaseLevel, "", &shared_entry<N>, kSlots, 3,
                                            1, 0, 0, Cost * 1000000, 0, Permille, kRowBytes}};
  static constexpr tfaot::Program kProgram = {N, kCodes, 1};
};
template <std::uint64_t One, std::uint64_t Four, bool Coupled = false, std::uint32_t Permille = 900>
using Shared = tfaot::native::Model<
    tfaot_model::plain_of<shared_bs<1, One, Permille>, shared_bs<4, Four, Permille>, Coupled>>;

template <class Model>
void run_and_check(Model& model, std::size_t rows) {
  const Floats x = numbers(4 * rows);
  Floats y(4 * rows);
  calls_alone = 0;
  calls_shared = 0;
  model.run(rows, x, y);
  expect_one_more(x, y);
}

TEST(ParallelKernels, ShareWhereThatCostsLessThanRows) {
  Shared<1000, 4000> model;
  Asked asked;
  model.set_parallelism(asked.with(2, 0));
  run_and_check(model, 1);
  EXPECT_EQ(calls_shared, 1) << "there is no row to share out";
  EXPECT_EQ(asked.counts, (std::vector<std::size_t>{1})) << "one piece is for one task";
  run_and_check(model, 4);
  EXPECT_EQ(calls_shared, 0);
  EXPECT_EQ(calls_alone, 4) << "two tasks of two rows each";
}

TEST(ParallelKernels, ShareWhereRowsCostMoreAlone) {
  Shared<3000, 4000> model;
  Asked asked;
  model.set_parallelism(asked.with(2, 0));
  run_and_check(model, 4);
  EXPECT_EQ(calls_shared, 1);
  EXPECT_EQ(asked.counts, (std::vector<std::size_t>{2}));
}

TEST(ParallelKernels, StayAloneInSmallCallsAndWhereNothingIsShared) {
  Asked asked;
  Shared<10, 20> small;
  small.set_parallelism(asked.with(2, 0));
  run_and_check(small, 4);
  Shared<1000, 1000, true, 0> unshared;
  unshared.set_parallelism(asked.with(2, 0));
  run_and_check(unshared, 4);
  EXPECT_TRUE(asked.counts.empty());
}

TEST(ParallelKernels, ShareTheWorkOfCoupledRows) {
  Shared<1000, 4000, true> model;
  model.set_parallelism({in_threads, 3});
  run_and_check(model, 4);
  EXPECT_EQ(calls_shared, 1);
  Floats two(8);
  EXPECT_THROW(model.run(2, two, two), tfaot::Error);
}

TEST(ParallelKernels, StayAloneWithANumberOfRowsOrARule) {
  Shared<3000, 4000> model;
  Asked asked;
  model.set_parallelism(asked.with(2, 100));
  run_and_check(model, 4);
  EXPECT_EQ(calls_alone, 1);
  model.set_parallelism(asked.with(2, 0));
  model.set_batch_rule(tfaot::BatchRule("4:4"));
  run_and_check(model, 4);
  EXPECT_EQ(calls_alone, 1);
  EXPECT_TRUE(asked.counts.empty());
}

// One task takes all pieces; the others find none.
TEST(ParallelKernels, NeedNoTaskToRunBesideAnother) {
  for (const bool backwards : {false, true}) {
    Shared<3000, 4000> model;
    model.set_parallelism({[&](std::size_t count, const Task& task) {
                             for (std::size_t i = 0; i < count; ++i) {
                               task(backwards ? count - 1 - i : i);
                             }
                           },
                           3});
    run_and_check(model, 4);
    run_and_check(model, 11);
  }
}

TEST(ParallelKernels, RunInSeveralModelsAtATime) {
  in_threads(3, [](std::size_t) {
    Shared<3000, 4000> model;
    model.set_parallelism({in_threads, 2});
    const Floats x = numbers(4 * 7);
    Floats y(4 * 7);
    for (int i = 0; i < 30; ++i) {
      model.run(7, x, y);
      expect_one_more(x, y);
    }
  });
}

// Compiled code lets none pass, so the work is done first.
TEST(ParallelKernels, PassTheExecutorsExceptionOn) {
  Shared<3000, 4000> model;
  model.set_parallelism({[](std::size_t, const Task& task) {
                           task(1);
                           throw std::runtime_error("no threads");
                         },
                         2});
  const Floats x = numbers(16);
  Floats y(16);
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(model.run(4, x, y), std::runtime_error);
    expect_one_more(x, y);
  }
}

TEST(ParallelKernels, FinishWhatTheExecutorLeavesOut) {
  for (const bool runs_one : {false, true}) {
    Shared<3000, 4000> model;
    model.set_parallelism({[&](std::size_t, const Task& task) {
                             if (runs_one) task(1);
                           },
                           3});
    run_and_check(model, 4);
    EXPECT_EQ(calls_shared, 1);
  }
}

TEST(ParallelKernels, StayWithAMovedModel) {
  Shared<3000, 4000> first;
  first.set_parallelism({in_threads, 2});
  Shared<3000, 4000> second = std::move(first);
  run_and_check(second, 4);
  EXPECT_EQ(calls_shared, 1);
}

}  // namespace
