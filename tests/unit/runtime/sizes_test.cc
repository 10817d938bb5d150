// SPDX-License-Identifier: Apache-2.0
// Models whose free dimensions have other sizes in each call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "tests/unit/runtime/allocations.h"
#include "tests/unit/runtime/expect_error.h"
#include "tests/unit/runtime/parallel_parts.h"
#include "tests/unit/runtime/sized_model.h"
#include "tfaot/runtime/compat_model.h"

namespace {

using tfaot::FloatArrays;
using tfaot_test::calls;
using tfaot_test::error_of;
using tfaot_test::in_threads;
using tfaot_test::SizedRows;
using Sized = tfaot::native::Model<tfaot_model::sized>;
using CompatSized = tfaot::Model<tfaot_model::sized>;

struct SizedOutputs {
  explicit SizedOutputs(const SizedRows& rows)
      : total(rows.total.size(), -7), each(rows.each.size(), -7) {}
  std::vector<float> total, each;
};

void expect_same(const SizedRows& rows, const SizedOutputs& outputs) {
  EXPECT_EQ(outputs.total, rows.total);
  EXPECT_EQ(outputs.each, rows.each);
  EXPECT_EQ(calls().failure, nullptr);
}

TEST(Sizes, EachCallHasItsOwn) {
  Sized model;
  for (const std::size_t rows : {0U, 1U, 3U, 4U, 9U}) {
    for (const std::int64_t n : {1, 2, 7, 39, 40}) {
      for (const std::int64_t k : {0, 1, 6}) {
        const SizedRows sample(rows, n, k);
        SizedOutputs outputs(sample);
        model.run(rows, {n, k}, {sample.x, sample.w}, {outputs.total, outputs.each});
        expect_same(sample, outputs);
      }
    }
  }
  const SizedRows largest(2, 40, 6);
  SizedOutputs outputs(largest);
  model.run(2, {largest.x, largest.w}, {outputs.total, outputs.each});
  expect_same(largest, outputs);
}

TEST(Sizes, AreCheckedFirst) {
  Sized model;
  const SizedRows sample(1, 7, 2);
  SizedOutputs outputs(sample);
  EXPECT_EQ(error_of([&] {
              model.run(1, {41, 2}, {sample.x, sample.w}, {outputs.total, outputs.each});
            }),
            "SizeOutOfRange: model 'sized': the size of 'n' is 41, but the code is for 1 to 40");
  EXPECT_EQ(error_of([&] {
              model.run(1, {8, 2}, {sample.x, sample.w}, {outputs.total, outputs.each});
            }),
            "InputMismatch: model 'sized': input 0 ('x') holds 21 elements, but 1 rows of 24 are "
            "expected");
}

TEST(Sizes, RaggedRowsComeInTheirOrder) {
  Sized model;
  const SizedRows sample({{7, 0}, {40, 6}, {40, 6}, {1, 3}, {40, 6}, {1, 3}, {1, 3}, {1, 3}});
  SizedOutputs outputs(sample);
  calls() = {};
  model.run_ragged(8, {sample.n_offsets, sample.k_offsets}, {sample.x, sample.w},
                   {outputs.total, outputs.each});
  expect_same(sample, outputs);
  SizedOutputs others(sample);
  EXPECT_EQ(error_of([&] {
              model.run_ragged(7, {sample.n_offsets, sample.k_offsets}, {sample.x, sample.w},
                               {others.total, others.each});
            }),
            "InputMismatch: model 'sized': the offsets of 'n' are 9, but 7 rows have 8");
}

TEST(Sizes, AllocateNothingAfterPrepare) {
  Sized model;
  model.set_parallelism({tfaot_test::one_by_one, 3, 2});  // 7 ragged rows are shared
  model.prepare(4);
  const SizedRows sample(3, 11, 5);
  const SizedRows ragged({{11, 5}, {3, 1}, {40, 6}, {2, 0}, {2, 0}, {9, 1}, {1, 2}});
  SizedOutputs outputs(sample), of_ragged(ragged);
  const std::size_t before = tfaot_test::allocations();
  model.run(3, {11, 5}, {sample.x, sample.w}, {outputs.total, outputs.each});
  model.run_ragged(7, {ragged.n_offsets, ragged.k_offsets}, {ragged.x, ragged.w},
                   {of_ragged.total, of_ragged.each});
  EXPECT_EQ(tfaot_test::allocations(), before);
  expect_same(ragged, of_ragged);
}

// Tasks are other runners: they get the sizes of the call, and their rows by these.
TEST(Sizes, ThreadsShareRowsOfAnySize) {
  Sized model;
  model.set_parallelism({in_threads, 3, 1});
  for (const std::size_t rows : {2U, 5U, 12U, 31U}) {
    for (const std::int64_t n : {3, 40}) {
      const SizedRows sample(rows, n, 2);
      SizedOutputs outputs(sample);
      model.run(rows, {n, 2}, {sample.x, sample.w}, {outputs.total, outputs.each});
      expect_same(sample, outputs);
    }
  }
}

// Rows of any sizes, the same ones each time; now and then equal ones follow each other.
SizedRows many_rows(std::size_t rows) {
  std::mt19937 random(7);
  std::vector<std::array<std::int64_t, 2>> sizes(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    sizes[i] = {static_cast<std::int64_t>(random() % 40 + 1),
                static_cast<std::int64_t>(random() % 7)};
    if (i > 0 && random() % 3 == 0) sizes[i] = sizes[i - 1];
  }
  return SizedRows(sizes);
}

TEST(Sizes, ThreadsShareRaggedRows) {
  Sized model;
  for (const std::size_t tasks : {2U, 3U, 5U}) {
    model.set_parallelism({in_threads, tasks, 1});
    for (const std::size_t rows : {0U, 1U, 2U, 7U, 24U, 25U, 333U}) {
      const SizedRows sample = many_rows(rows);
      SizedOutputs outputs(sample);
      model.run_ragged(rows, {sample.n_offsets, sample.k_offsets}, {sample.x, sample.w},
                       {outputs.total, outputs.each});
      expect_same(sample, outputs);
    }
  }
}

TEST(Sizes, TasksOfRaggedRowsDoTheWorkOfThoseThatAreLeftOut) {
  Sized model;
  const SizedRows sample = many_rows(50);
  const auto run = [&](const tfaot::Executor& executor) {
    SizedOutputs outputs(sample);
    model.set_parallelism({executor, 4, 1});
    model.run_ragged(50, {sample.n_offsets, sample.k_offsets}, {sample.x, sample.w},
                     {outputs.total, outputs.each});
    expect_same(sample, outputs);
  };
  run([](std::size_t, const tfaot_test::Task& task) { task(2); });
  EXPECT_EQ(error_of([&] { run([](std::size_t, const tfaot_test::Task&) {}); }),
            "FailedRun: the executor left out tasks, so outputs are missing; was it cancelled?");
}

TEST(Sizes, FewRaggedRowsAndThoseThatDoNotFitStayOnTheThread) {
  Sized model;
  tfaot_test::Asked asked;
  model.set_parallelism(asked.with(3, 0));  // costs are unknown: 128 rows a task
  const auto run = [&](std::size_t rows, const SizedRows& sample) {
    SizedOutputs outputs(sample);
    model.run_ragged(rows, {sample.n_offsets, sample.k_offsets}, {sample.x, sample.w},
                     {outputs.total, outputs.each});
    expect_same(sample, outputs);
  };
  run(200, many_rows(200));
  EXPECT_TRUE(asked.counts.empty());
  run(300, many_rows(300));
  EXPECT_EQ(asked.counts, std::vector<std::size_t>{2});
  SizedRows wrong = many_rows(300);
  wrong.x.pop_back();
  EXPECT_NE(error_of([&] { run(300, wrong); }), "no error");
  model.set_batch_rule(std::string("1:4"));  // rules say how rows run, in their order
  run(300, many_rows(300));
  EXPECT_EQ(asked.counts, std::vector<std::size_t>{2});
}

// Costs are those of the largest sizes.
TEST(Sizes, OnlyCallsThatAreLongAtTheirSizesAreShared) {
  tfaot::Code code = tfaot_model::sized_bs<1, &tfaot_test_sized_bs1>::kCodes[0];
  code.cost = 30'000'000;  // picoseconds of a row
  const tfaot::Program program = {1, &code, 1};
  tfaot::Description costly = tfaot_model::sized::description();
  costly.programs = &program;
  costly.program_count = 1;
  tfaot::BatchRunner runner(costly);
  tfaot_test::Asked asked;
  tfaot::ParallelRunner parallel(runner, asked.with(4, 0));
  const auto run = [&](std::int64_t n, std::int64_t k) {
    const SizedRows sample(4, n, k);
    SizedOutputs outputs(sample);
    const std::int64_t sizes[] = {n, k};
    runner.set_sizes(sizes);
    const void* const in[] = {sample.x.data(), sample.w.data()};
    void* const out[] = {outputs.total.data(), outputs.each.data()};
    parallel.run(runner, 4, in, out);
    expect_same(sample, outputs);
    const tfaot::Span<const std::size_t> offsets[] = {sample.n_offsets, sample.k_offsets};
    const tfaot::BatchRunner::RaggedInput x[] = {{sample.x.data(), sample.x.size()},
                                                 {sample.w.data(), sample.w.size()}};
    const tfaot::BatchRunner::RaggedOutput y[] = {{outputs.total.data(), outputs.total.size()},
                                                  {outputs.each.data(), outputs.each.size()}};
    parallel.run_ragged(runner, {4, offsets, x, y});
    expect_same(sample, outputs);
  };
  run(1, 0);
  EXPECT_TRUE(asked.counts.empty());
  run(40, 6);
  // Tasks of equal rows begin where all tensors are aligned: at even rows.
  EXPECT_EQ(asked.counts, (std::vector<std::size_t>{2, 4}));
}

TEST(Sizes, CoupledRaggedRowsAreCheckedBeforeAnythingRuns) {
  tfaot::Description coupled = tfaot_model::sized::description();
  coupled.coupled_rows = true;
  tfaot::BatchRunner runner(coupled);
  const SizedRows sample({{7, 0}, {5, 1}, {5, 1}});  // no code for 2 rows
  SizedOutputs outputs(sample);
  const tfaot::Span<const std::size_t> offsets[] = {sample.n_offsets, sample.k_offsets};
  const tfaot::BatchRunner::RaggedInput in[] = {{sample.x.data(), sample.x.size()},
                                                {sample.w.data(), sample.w.size()}};
  const tfaot::BatchRunner::RaggedOutput out[] = {{outputs.total.data(), outputs.total.size()},
                                                  {outputs.each.data(), outputs.each.size()}};
  calls() = {};
  EXPECT_THAT(error_of([&] {
                runner.run_ragged({3, offsets, in, out});
              }),
              testing::StartsWith("UnknownBatchSize"));
  EXPECT_EQ(calls().count, 0U);
}

TEST(Sizes, SiblingsHaveThoseOfTheirModel) {
  tfaot::BatchRunner runner(tfaot_model::sized::description());
  const std::int64_t sizes[] = {5, 1};
  runner.set_sizes(sizes);
  tfaot::BatchRunner sibling = runner.sibling();
  const SizedRows sample(1, 5, 1);
  SizedOutputs outputs(sample);
  const void* const in[] = {sample.x.data(), sample.w.data()};
  void* const out[] = {outputs.total.data(), outputs.each.data()};
  sibling.run(1, in, out);
  expect_same(sample, outputs);
}

// The compatible API: a vector for each row, whose length tells the size.

FloatArrays rows_of(const std::vector<float>& all, std::size_t rows) {
  FloatArrays arrays;
  const auto length = static_cast<std::ptrdiff_t>(all.size() / rows);
  for (auto first = all.begin(); arrays.size() < rows; first += length) {
    arrays.emplace_back(first, first + length);
  }
  return arrays;
}

TEST(CompatSizes, FollowFromTheLengths) {
  CompatSized model;
  for (const std::size_t rows : {1U, 3U, 4U, 9U}) {
    for (const std::int64_t n : {1, 7, 40}) {
      for (const std::int64_t k : {1, 6}) {
        const SizedRows sample(rows, n, k);
        const auto [total, each] = model.run<FloatArrays, FloatArrays>(
            rows, rows_of(sample.x, rows), rows_of(sample.w, rows));
        EXPECT_EQ(total, rows_of(sample.total, rows));
        EXPECT_EQ(each, rows_of(sample.each, rows));
      }
    }
  }
}

TEST(CompatSizes, RefuseWhatIsNoSize) {
  CompatSized model;
  const auto run = [&](std::size_t x, std::size_t w, std::size_t second_x) {
    return error_of([&] {
      model.run<FloatArrays, FloatArrays>(
          2, FloatArrays{std::vector<float>(x), std::vector<float>(second_x)},
          FloatArrays{std::vector<float>(w), std::vector<float>(w)});
    });
  };
  EXPECT_EQ(run(21, 6, 21), "no error");
  EXPECT_EQ(run(22, 6, 22),
            "InputMismatch: model 'sized': input 0 ('x') holds 22 elements in row 0, which is no "
            "size of 'n' from 1 to 40");
  EXPECT_EQ(run(21, 7, 21),
            "InputMismatch: model 'sized': input 1 ('w') holds 7 elements in row 0, which is no "
            "size of 'k' from 0 to 6");
  EXPECT_EQ(run(21, 6, 24),
            "InputMismatch: model 'sized': input 0 ('x') holds 24 elements in row 1, but 21 are "
            "expected");
}

}  // namespace
