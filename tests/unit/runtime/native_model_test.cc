// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/native_model.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/unit/runtime/allocations.h"
#include "tests/unit/runtime/expect_error.h"
#include "tests/unit/runtime/fake_model.h"
#include "tfaot/runtime/compat_model.h"

namespace {

using tfaot::inputs;
using tfaot::outputs;
using tfaot_test::error_of;
using Fake = tfaot::native::Model<tfaot_model::fake>;
using Plain = tfaot::native::Model<tfaot_model::plain>;

// Whether run(rows, inputs(In...), outputs(Out...)) compiles, apart from what its static_asserts
// refuse (refused_calls.cc).
template <class Model, class In, class Out, class = void>
inline constexpr bool runs = false;
template <class Model, class... In, class... Out>
inline constexpr bool
    runs<Model, void(In...), void(Out...),
         std::void_t<decltype(std::declval<Model&>().run(
             std::size_t{}, inputs(std::declval<In>()...), outputs(std::declval<Out>()...)))>> =
        true;

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;
using Bools = std::array<bool, 4>;
static_assert(runs<Fake, void(Floats&, Ints&), void(Floats&, Bools&)>);
static_assert(runs<Fake, void(const Floats&, const Ints&), void(Floats&, Bools&)>, "const inputs");
static_assert(
    runs<Fake, void(Floats, tfaot::Span<const std::int64_t>), void(Floats&, tfaot::Span<bool>)>,
    "temporary inputs, spans");
static_assert(runs<Fake, void(float (&)[3], std::int64_t (&)[2]), void(float (&)[2], bool (&)[1])>,
              "C arrays");
static_assert(!runs<Fake, void(Floats&, Ints&), void(Floats, Bools&)>, "temporary output");
static_assert(!runs<Fake, void(Floats&, Ints&), void(Floats&, std::vector<bool>&)>,
              "not contiguous");
static_assert(std::is_nothrow_move_constructible_v<Fake>);
static_assert(!std::is_copy_constructible_v<Fake>);

TEST(NativeModel, RunsACompiledBatch) {
  Fake model;
  Floats x = {1, 2, 3, -4, 5, 6};
  std::array<std::int64_t, 4> n = {1, 2, 3, 4};
  Floats sum(4);
  bool flag[2] = {};
  model.run(2, inputs(x, n), outputs(sum, flag));
  EXPECT_EQ(sum, (Floats{15, 3, 17.5F, 7}));
  EXPECT_TRUE(flag[0]);
  EXPECT_FALSE(flag[1]);
}

TEST(NativeModel, TakesBracesOrASingleTensorAsItIs) {
  Plain model;
  const Floats x = {1, 2, 3, 4};
  Floats y(4);
  model.run(1, x, y);
  EXPECT_EQ(y, (Floats{2, 3, 4, 5}));
  Floats z(4);
  model.run(1, {y}, {z});
  EXPECT_EQ(z, (Floats{3, 4, 5, 6}));
}

// In C++20 with designators: named_call_test.cc.
TEST(NativeModel, RunsByName) {
  Fake model;
  Floats x = {1, 2, 3, -4, 5, 6};
  std::array<std::int64_t, 4> n = {1, 2, 3, 4};
  Floats sum(4);
  bool flag[2] = {};
  Fake::Inputs in;
  in.n = n;
  in.x = x;
  Fake::Outputs out;
  out.flag = flag;
  out.sum = sum;
  model.run(2, in, out);
  EXPECT_EQ(sum, (Floats{15, 3, 17.5F, 7}));
  EXPECT_TRUE(flag[0]);
  EXPECT_FALSE(flag[1]);
}

TEST(NativeModel, SaysWhichTensorByNameIsMissingOrOfTheWrongLength) {
  Fake model;
  Floats x(12);
  Ints n(8);
  Floats sum(8);
  Bools flag = {};
  tfaot_test::calls() = {};
  Fake::Inputs in;
  in.x = x;
  Fake::Outputs out;
  out.sum = sum;
  EXPECT_EQ(error_of([&] { model.run(4, in, out); }),
            "InputMismatch: model 'fake': input 1 ('n') holds 0 elements, but 4 rows of 2 are "
            "expected; was it left out?");
  in.n = n;
  EXPECT_EQ(error_of([&] { model.run(4, in, out); }),
            "OutputMismatch: model 'fake': output 1 ('flag') holds 0 elements, but 4 rows of 1 are "
            "expected; was it left out?");
  out.flag = flag;
  n.pop_back();
  in.n = n;
  EXPECT_EQ(error_of([&] { model.run(4, in, out); }),
            "InputMismatch: model 'fake': input 1 ('n') holds 7 elements, but 4 rows of 2 are "
            "expected");
  EXPECT_EQ(tfaot_test::calls().count, 0);
  EXPECT_EQ(error_of([&] { model.run(0, {}, {}); }), "no error");
}

TEST(NativeModel, HasASignature) {
  const tfaot::Signature signature = Fake::signature();
  ASSERT_EQ(signature.inputs.size(), 2U);
  EXPECT_STREQ(signature.inputs[0].name, "x");
  EXPECT_EQ(signature.inputs[0].dtype, tfaot::DType::kFloat32);
  EXPECT_EQ(signature.inputs[0].shape().size(), 1U);
  EXPECT_EQ(signature.inputs[0].shape()[0], 3);
  EXPECT_STREQ(signature.inputs[1].name, "n");
  EXPECT_EQ(signature.inputs[1].dtype, tfaot::DType::kInt64);
  ASSERT_EQ(signature.outputs.size(), 2U);
  EXPECT_STREQ(signature.outputs[1].name, "flag");
  EXPECT_EQ(signature.outputs[1].shape().size(), 0U) << "one number a row";
  EXPECT_EQ(signature.outputs[1].row_elements, 1U);
  EXPECT_EQ(Fake().signature().inputs.data(), signature.inputs.data());
  EXPECT_EQ(tfaot::Model<tfaot_model::fake>::signature().inputs.data(), signature.inputs.data());
}

TEST(NativeModel, TellsAboutItself) {
  Fake model;
  EXPECT_EQ(model.name(), "fake");
  EXPECT_EQ(model.batch_sizes(), (std::vector<std::size_t>{1, 2, 4, 8}));
  EXPECT_STREQ(model.cpu_level(), tfaot_test::kBaseLevel);
}

TEST(NativeModel, TakesTheCpuChoiceOfTheCaller) {
  const std::string base = tfaot_test::kBaseLevel;
  EXPECT_EQ(
      error_of([] { Fake model(tfaot::CpuChoice::of_features({"abacus"}).at_level("other")); }),
      "UnsupportedCpu: TFAOT_CPU_LEVEL=other is not a level of model 'fake'; compiled "
      "levels: " +
          base + "; this CPU can run: " + base);
}

TEST(NativeModel, ChecksTheNumberOfElements) {
  Fake model;
  Floats x(12);
  Ints n(8);
  Floats sum(8);
  Bools flag = {};
  tfaot_test::calls() = {};
  EXPECT_EQ(
      error_of([&] { model.run(3, inputs(x, n), outputs(sum, flag)); }),
      "InputMismatch: model 'fake': input 0 ('x') holds 12 elements, but 3 rows of 3 are expected");
  n.pop_back();
  EXPECT_EQ(
      error_of([&] { model.run(4, inputs(x, n), outputs(sum, flag)); }),
      "InputMismatch: model 'fake': input 1 ('n') holds 7 elements, but 4 rows of 2 are expected");
  n.push_back(0);
  sum.push_back(0);
  EXPECT_EQ(error_of([&] { model.run(4, inputs(x, n), outputs(sum, flag)); }),
            "OutputMismatch: model 'fake': output 0 ('sum') holds 9 elements, but 4 rows of 2 are "
            "expected");
  sum.pop_back();
  EXPECT_EQ(error_of([&] {
              model.run(4, inputs(x, n), outputs(sum, tfaot::Span<bool>(flag.data(), 3)));
            }),
            "OutputMismatch: model 'fake': output 1 ('flag') holds 3 elements, but 4 rows of 1 are "
            "expected");
  EXPECT_EQ(tfaot_test::calls().count, 0);
  EXPECT_EQ(error_of([&] { model.run(4, inputs(x, n), outputs(sum, flag)); }), "no error");
}

TEST(NativeModel, ChecksTheNumberOfElementsWithoutOverflow) {
  Plain model;
  const Floats x(4);
  Floats y(4);
  EXPECT_EQ(error_of([&] { model.run((std::size_t{1} << 62) + 1, x, y); }),
            "InputMismatch: model 'plain': input 0 ('x') holds 4 elements, but 4611686018427387905 "
            "rows of 4 are "
            "expected");
}

TEST(NativeModel, SaysWhichNegativeNumberOfRowsItGot) {
  Plain model;
  const int rows = -1;
  const Floats x(4);
  Floats y(4);
  EXPECT_EQ(error_of([&] { model.run(static_cast<std::size_t>(rows), x, y); }),
            "InputMismatch: model 'plain': run() was called with -1 rows; the number of rows is 0 "
            "or more");
}

TEST(NativeModel, KnowsItsVersion) {
  EXPECT_EQ(Fake().version(), "1.0.0");
  EXPECT_EQ(tfaot::Model<tfaot_model::fake>().version(), "1.0.0");
}

TEST(NativeModel, KnowsItsRecordAndTheLevelThatRuns) {
  const Fake model;
  for (const tfaot::ModelRecord& record :
       {model.record(), tfaot::Model<tfaot_model::fake>().record()}) {
    EXPECT_EQ(record.model_name, "fake");
    EXPECT_EQ(record.version, 1'000'000);
    EXPECT_EQ(record.hash, "abc");
    EXPECT_EQ(record.cpu_level, model.cpu_level());
  }
  // A package of an older tfaot says nothing.
  const tfaot::ModelRecord none = tfaot::native::Model<tfaot_model::plain>().record();
  EXPECT_EQ(none.version, 0);
  EXPECT_EQ(none.hash, "");
}

TEST(NativeModel, TakesEmptyMemoryForNoRows) {
  Fake model;
  tfaot_test::calls() = {};
  model.run(0, inputs(Floats(), Ints()), outputs(tfaot::Span<float>(), tfaot::Span<bool>()));
  EXPECT_EQ(tfaot_test::calls().count, 0);
}

TEST(NativeModel, AllocatesNothing) {
  Fake model;
  Floats x(33);
  Ints n(22);
  Floats sum(22);
  alignas(16) std::array<bool, 11> flag = {};
  model.run(11, inputs(x, n), outputs(sum, flag));  // staging: rows of 12 bytes are not all aligned
  const std::size_t before = tfaot_test::allocations();
  model.run(11, inputs(x, n), outputs(sum, flag));
  EXPECT_EQ(tfaot_test::allocations(), before);
  Fake fresh;
  const std::size_t made = tfaot_test::allocations();
  fresh.run(
      8,
      inputs(tfaot::Span<const float>(x.data(), 24), tfaot::Span<const std::int64_t>(n.data(), 16)),
      outputs(tfaot::Span<float>(sum.data(), 16), tfaot::Span<bool>(flag.data(), 8)));
  EXPECT_EQ(tfaot_test::allocations(), made);
}

TEST(NativeModel, FollowsRules) {
  Plain model;
  model.set_batch_rule(tfaot::BatchRule("16:4,4,4,4"));
  EXPECT_TRUE(model.batch_strategy().hasRule(16));
  Floats x(64, 1);
  Floats y(64);
  tfaot_test::calls() = {};
  model.run(16, x, y);
  EXPECT_EQ(tfaot_test::calls().count, 4);
  model.set_batch_strategy({});
  model.run(16, x, y);
  EXPECT_EQ(tfaot_test::calls().count, 5);
  EXPECT_EQ(y, Floats(64, 2));
}

TEST(NativeModel, RunsInSeveralThreadsWithAnInstanceEach) {
  const auto work = [](int seed, int* wrong) {
    Fake model;
    for (int round = 0; round < 300; ++round) {
      const std::size_t rows = static_cast<std::size_t>((seed + round) % 13);
      Floats x(3 * rows, static_cast<float>(seed + 1));
      Ints n(2 * rows, seed);
      Floats sum(2 * rows);
      std::array<bool, 13> flag = {};
      model.run(rows, inputs(x, n), outputs(sum, tfaot::Span<bool>(flag.data(), rows)));
      for (std::size_t i = 0; i < rows; ++i) {
        *wrong += sum[2 * i] != 7.5F * static_cast<float>(seed + 1);
        *wrong += sum[2 * i + 1] != static_cast<float>(2 * seed);
      }
    }
  };
  int wrong[2] = {};
  std::thread one(work, 0, &wrong[0]);
  std::thread two(work, 5, &wrong[1]);
  one.join();
  two.join();
  EXPECT_EQ(wrong[0], 0);
  EXPECT_EQ(wrong[1], 0);
}

TEST(NativeModel, RunsAfterAMove) {
  Plain first;
  Floats x(12, 1);
  Floats y(12);
  first.run(3, x, y);
  std::vector<Plain> models;
  models.push_back(std::move(first));
  models.emplace_back();
  models[0].run(3, y, x);
  EXPECT_EQ(x, Floats(12, 3));
}

TEST(NativeModel, KeepsCoupledRowsTogetherOnThreadsToo) {
  tfaot::native::Model<tfaot_model::coupled> model;
  model.set_parallelism({[](std::size_t, const auto&) { FAIL() << "rows were shared out"; }, 2, 1});
  Floats x(64, 1);
  Floats y(64);
  model.run(16, x, y);
  EXPECT_EQ(y, Floats(64, 2));
  Floats five(20);
  EXPECT_EQ(
      tfaot_test::error_of([&] { model.run(5, five, five); }),
      "UnknownBatchSize: model 'plain': 5 rows cannot be run, because rows of a batch depend on "
      "each other (compilation.rows: coupled); compiled batch sizes: 4, 16");
}

}  // namespace
