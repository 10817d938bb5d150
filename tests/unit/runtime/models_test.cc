// SPDX-License-Identifier: Apache-2.0
// tfaot::Models, with a library of fake models (fake_linked_models.cc). Libraries of 'tfaot link'
// are in tests/cmake/models_at_run_time.
#include "tfaot/runtime/models.h"

#include <gmock/gmock.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "tests/support/temporary_folder.h"
#include "tests/unit/runtime/allocations.h"
#include "tests/unit/runtime/fake_model.h"
#include "tests/unit/runtime/sized_model.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using tfaot::inputs;
using tfaot::outputs;
using tfaot::wanted;

static_assert(std::is_nothrow_move_constructible_v<tfaot::LoadedModel>);
static_assert(!std::is_copy_constructible_v<tfaot::LoadedModel>);

// Tensors of `fake`, for 2 rows.
struct Tensors {
  std::vector<float> x = {1, 2, 3, -4, 5, 6};
  std::array<std::int64_t, 4> n = {1, 2, 3, 4};
  std::vector<float> sum = std::vector<float>(4);
  std::array<bool, 2> flag{};
};

template <class Outcome>
std::string error_of(const Outcome& outcome) {
  return outcome ? "" : outcome.error().text;
}

class ModelsTest : public ::testing::Test {
 protected:
  tfaot::LoadedModel fake() const {
    auto model = models_.load("fake");
    EXPECT_TRUE(model) << error_of(model);
    return *std::move(model);
  }

  const tfaot::Models models_{TFAOT_FAKE_MODELS};
};

TEST_F(ModelsTest, RunByName) {
  tfaot::LoadedModel model = fake();
  Tensors t;
  EXPECT_EQ(error_of(model.run(2, {{"x", t.x}, {"n", t.n}}, {{"sum", t.sum}, {"flag", t.flag}})),
            "");
  EXPECT_THAT(t.sum, ElementsAre(15, 3, 17.5F, 7));
  EXPECT_THAT(t.flag, ElementsAre(true, false));
  Tensors other;  // in another order
  EXPECT_EQ(error_of(model.run(2, {{"n", other.n}, {"x", other.x}},
                               {{"flag", other.flag}, {"sum", other.sum}})),
            "");
  EXPECT_EQ(other.sum, t.sum);
  EXPECT_EQ(other.flag, t.flag);
}

TEST_F(ModelsTest, RunInTheModelsOrder) {
  tfaot::LoadedModel model = fake();
  Tensors t;
  EXPECT_EQ(error_of(model.run(2, inputs(t.x, t.n), outputs(t.sum, t.flag))), "");
  EXPECT_THAT(t.sum, ElementsAre(15, 3, 17.5F, 7));
  EXPECT_EQ(error_of(model.run(2, inputs(t.x), outputs(t.sum, t.flag))),
            "model 'fake' 2.0.0: 1 inputs instead of 2");
  EXPECT_EQ(error_of(model.run(2, inputs(t.n, t.x), outputs(t.sum, t.flag))),
            "model 'fake' 2.0.0: input 'x' holds 4 elements of int64, but 2 rows of float32 [3] "
            "are expected");
}

TEST_F(ModelsTest, CheckNamesTypesAndSizes) {
  tfaot::LoadedModel model = fake();
  Tensors t;
  const auto run = [&](std::size_t rows, std::initializer_list<tfaot::NamedInput> in,
                       std::initializer_list<tfaot::NamedOutput> out) {
    return error_of(model.run(rows, in, out));
  };
  std::vector<double> doubles(6);
  EXPECT_EQ(run(2, {{"x", t.x}, {"m", t.n}}, {{"sum", t.sum}, {"flag", t.flag}}),
            "model 'fake' 2.0.0: no input 'm'; it has x, n");
  EXPECT_EQ(run(2, {{"x", doubles}, {"n", t.n}}, {{"sum", t.sum}, {"flag", t.flag}}),
            "model 'fake' 2.0.0: input 'x' holds 6 elements of float64, but 2 rows of float32 [3] "
            "are expected");
  EXPECT_EQ(run(3, {{"x", t.x}, {"n", t.n}}, {{"sum", t.sum}, {"flag", t.flag}}),
            "model 'fake' 2.0.0: input 'x' holds 6 elements of float32, but 3 rows of float32 [3] "
            "are expected");
  EXPECT_EQ(run(2, {{"x", t.x}}, {{"sum", t.sum}, {"flag", t.flag}}),
            "model 'fake' 2.0.0: input 'n' is left out");
  EXPECT_EQ(run(2, {{"x", t.x}, {"x", t.x}, {"n", t.n}}, {{"sum", t.sum}, {"flag", t.flag}}),
            "model 'fake' 2.0.0: input 'x' comes twice");
  EXPECT_EQ(run(2, {{"x", t.x}, {"n", t.n}}, {{"sum", t.sum}}),
            "model 'fake' 2.0.0: output 'flag' is left out");
  const auto mismatch = model.run(2, {{"x", t.x}, {"n", t.n}}, {{"sum", t.sum}});
  EXPECT_EQ(mismatch.error().status, TFAOT_OUTPUT_MISMATCH);
  EXPECT_EQ(run(~std::size_t{0} / 2, {{"x", t.x}, {"n", t.n}}, {{"sum", t.sum}}).substr(0, 42),
            "model 'fake' 2.0.0: input 'x' holds 6 elem");
}

TEST_F(ModelsTest, RunNoRows) {
  tfaot::LoadedModel model = fake();
  std::vector<float> none;
  std::vector<std::int64_t> no_numbers;
  EXPECT_EQ(error_of(model.run(0, {{"x", none}, {"n", no_numbers}},
                               {{"sum", none}, {"flag", tfaot::Span<bool>()}})),
            "");
}

TEST_F(ModelsTest, SayWhatTheyAre) {
  const tfaot::LoadedModel model = fake();
  EXPECT_EQ(model.record().model_name, "fake");
  EXPECT_EQ(model.version(), "2.0.0");
  EXPECT_EQ(model.record().version, 7);
  EXPECT_EQ(model.record().hash, "hash of 2");
  EXPECT_FALSE(model.record().cpu_level.empty());
  EXPECT_EQ(model.library_file(), TFAOT_FAKE_MODELS);
  const tfaot::Span<const std::uint64_t> sizes = model.batch_sizes();
  EXPECT_THAT(std::vector<std::uint64_t>(sizes.begin(), sizes.end()), ElementsAre(1, 2, 4, 8));
  ASSERT_EQ(model.signature().inputs.size(), 2U);
  EXPECT_STREQ(model.signature().inputs[1].name, "n");
  EXPECT_EQ(error_of(model.expect({wanted<float>("x", {3})}, {wanted<bool>("flag", {})})), "");
  EXPECT_EQ(error_of(model.expect({wanted<float>("x", {4})}, {})),
            "model 'fake' 2.0.0: input 'x' is float32 [3], but 'x', float32 [4], is expected");
  EXPECT_EQ(error_of(model.expect({}, {wanted<float>("flag", {})})),
            "model 'fake' 2.0.0: output 'flag' is bool [], but 'flag', float32 [], is expected");
  EXPECT_EQ(error_of(model.expect({wanted<float>("y", {3})}, {})),
            "model 'fake' 2.0.0: no input 'y'; it has x, n");
}

// A class of model.h with other names, types or shapes than the library's model.
struct Renamed {
  struct Inputs : tfaot_model::fake::Inputs {
    static constexpr const char* kNames[] = {"x", "ids", nullptr};
  };
  using Outputs = tfaot_model::fake::Outputs;
};
struct Named {
  struct Inputs : tfaot_model::fake::Inputs {
    static constexpr const char* kNames[] = {"x", "n", nullptr};
  };
  using Outputs = tfaot_model::fake::Outputs;
};
struct Reshaped {
  using Inputs = tfaot::TensorList<tfaot::Tensor<float, 3>, tfaot::Tensor<std::int64_t, 3>>;
  using Outputs = tfaot_model::fake::Outputs;
};
struct Retyped {
  using Inputs = tfaot_model::fake::Inputs;
  using Outputs = tfaot::TensorList<tfaot::Tensor<float, 2>, tfaot::Tensor<float>>;
};
struct Fewer {
  using Inputs = tfaot_model::fake::Inputs;
  using Outputs = tfaot::TensorList<tfaot::Tensor<float, 2>>;
};

TEST_F(ModelsTest, HaveTheTypesOfAHeader) {
  auto model = models_.load<tfaot_model::fake>("fake", "<2");
  ASSERT_TRUE(model) << error_of(model);
  Tensors t;
  tfaot_model::fake::Inputs in;
  in.x = t.x;
  in.n = t.n;
  EXPECT_EQ(error_of(model->run(2, in, {t.sum, t.flag})), "");
  EXPECT_THAT(t.sum, ElementsAre(15, 3, 17.5F, 7));
  EXPECT_EQ(error_of(model->run(2, inputs(t.x, t.n), outputs(t.sum, t.flag))), "");
  auto another = model->another();
  ASSERT_TRUE(another);
  EXPECT_EQ(another->version(), "1.10.0");
  in.n = {};
  EXPECT_EQ(error_of(another->run(2, in, {t.sum, t.flag})),
            "model 'fake' 1.10.0: input 'n' holds 0 elements of int64, but 2 rows of int64 [2] "
            "are expected");
  EXPECT_EQ(error_of(models_.load<Named>("fake")), "");
  EXPECT_EQ(error_of(models_.load<Renamed>("fake")),
            "model 'fake' 2.0.0: input 'n' is int64 [2], but 'ids', int64 [2], is expected");
  EXPECT_EQ(error_of(models_.load<Reshaped>("fake")),
            "model 'fake' 2.0.0: input 'n' is int64 [2], but 'n', int64 [3], is expected");
  EXPECT_EQ(error_of(models_.load<Retyped>("fake")),
            "model 'fake' 2.0.0: output 'flag' is bool [], but 'flag', float32 [], is expected");
  EXPECT_EQ(error_of(models_.load<Fewer>("fake")),
            "model 'fake' 2.0.0: 2 outputs, but the header has 1");
}

TEST_F(ModelsTest, AllocateNothingAfterPrepare) {
  tfaot::LoadedModel model = fake();
  ASSERT_TRUE(model.prepare(3));
  std::vector<float> x(10);  // from x[1] on not aligned: staging memory is needed
  std::vector<std::int64_t> n(6);
  std::vector<float> sum(6);
  std::array<bool, 3> flag{};
  const tfaot::Span<const float> unaligned(x.data() + 1, 9);
  const std::size_t before = tfaot_test::allocations();
  bool is_right = true;
  for (int i = 0; i < 10; ++i) {
    is_right = is_right &&
               model.run(3, {{"x", unaligned}, {"n", n}}, {{"sum", sum}, {"flag", flag}}) &&
               model.run(3, inputs(unaligned, n), outputs(sum, flag));
  }
  EXPECT_EQ(tfaot_test::allocations(), before);
  EXPECT_TRUE(is_right);
}

TEST_F(ModelsTest, LiveInThreads) {
  std::vector<std::thread> threads;
  std::array<int, 8> wrong{};
  for (int& count : wrong) {
    threads.emplace_back([&count, this] {
      for (int i = 0; i < 50; ++i) {
        auto model = models_.load("fake", i % 2 == 0 ? "<2" : "");
        Tensors t;
        const bool is_right =
            model && model->run(2, inputs(t.x, t.n), outputs(t.sum, t.flag)) && t.sum[2] == 17.5F;
        if (!is_right) ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(wrong, ::testing::Each(0));
}

// The file is in the process's maps as long as a model of it lives.
bool is_loaded() {
  std::ifstream maps("/proc/self/maps");
  const std::string text{std::istreambuf_iterator<char>(maps), {}};
  return text.find(TFAOT_FAKE_MODELS) != std::string::npos;
}

TEST_F(ModelsTest, KeepTheirLibraryLoaded) {
  ASSERT_FALSE(is_loaded());
  {
    std::vector<tfaot::LoadedModel> kept;
    {
      tfaot::LoadedModel first = fake();
      auto second = first.another();
      ASSERT_TRUE(second);
      kept.push_back(*std::move(second));
      EXPECT_TRUE(is_loaded());
    }
    EXPECT_TRUE(is_loaded());
    Tensors t;
    EXPECT_EQ(error_of(kept[0].run(2, inputs(t.x, t.n), outputs(t.sum, t.flag))), "");
  }
  EXPECT_FALSE(is_loaded());
}

class ModelsAreaTest : public ::testing::Test {
 protected:
  void install(const std::string& tool, const std::string& version, const std::string& name) {
    const std::filesystem::path tree = area_ / tool / version;
    std::filesystem::create_directories(tree / "lib");
    std::ofstream(tree / "manifest.json") << "{}";
    if (!name.empty()) {
      std::filesystem::create_symlink(TFAOT_FAKE_MODELS, tree / "lib" / (name + ".so"));
    }
  }
  void make_current(const std::string& tool, const std::string& version) {
    std::filesystem::remove(area_ / tool / "current");
    std::filesystem::create_symlink(version, area_ / tool / "current");
  }
  std::string version(const std::string& name, const std::string& versions = "") const {
    const auto model = tfaot::Models(area_.string()).load(name, versions);
    return model ? std::string(model->version()) : model.error().text;
  }

  const tfaot::toolkit::testing::TemporaryFolder folder_;
  const std::filesystem::path area_ = folder_.path() / "area";
};

TEST_F(ModelsAreaTest, LoadsTheCurrentVersionOrTheNewestThatFits) {
  for (const char* const version : {"1.9.0", "1.10.0", "2.0.0"}) {
    install("tfaot-model-fake", version, "fake");
  }
  EXPECT_EQ(version("fake"), "2.0.0");
  make_current("tfaot-model-fake", "1.9.0");
  EXPECT_EQ(version("fake"), "1.9.0");
  EXPECT_EQ(version("fake", ">=1.9"), "1.9.0");
  EXPECT_EQ(version("fake", ">1.9"), "2.0.0");
  EXPECT_EQ(version("fake", ">1.9 <2"), "1.10.0");
  EXPECT_EQ(version("fake", "2"), "2.0.0");
}

TEST_F(ModelsAreaTest, FindsToolsOfAnyName) {
  install("my-tool", "1.0.0", "plain");
  install("other", "1.0.0", "other");
  EXPECT_EQ(version("plain"), "1.0.0");
}

TEST_F(ModelsAreaTest, SaysWhatThereIsInstead) {
  const std::string area = "the area " + area_.string();
  EXPECT_EQ(version("fake"),
            area_.string() + ": neither a release area nor a library of 'tfaot link'");
  install("tfaot-model-fake", "1.9.0", "fake");
  install("tfaot-model-fake", "1.10.0", "fake");
  install("tfaot-model-fake", "3.0.0", "");
  EXPECT_EQ(version("fakes"), "no model 'fakes' in " + area);
  EXPECT_EQ(version("../area/fake"), "no model '../area/fake' in " + area);
  EXPECT_EQ(version("fake", ">=2 <3"),
            "no version of 'fake' in " + area + " fits '>=2 <3': it has 1.9.0, 1.10.0");
  EXPECT_EQ(version("fake", ">=3"),
            "fake 3.0.0 in " + area + " has no library: install it with 'tfaot install --link'");
  EXPECT_EQ(version("fake", "~1"), "'~1' is not a condition on versions, such as >=1.2");
  std::ofstream(area_ / "text.so") << "no library";
  EXPECT_THAT(error_of(tfaot::Models((area_ / "text.so").string()).load("fake")),
              HasSubstr("text.so"));
  EXPECT_EQ(error_of(tfaot::Models("/lib/x86_64-linux-gnu/libm.so.6").load("fake")),
            "/lib/x86_64-linux-gnu/libm.so.6: not a library of 'tfaot link'");
}

TEST(Expected, IsAValueOrAFailure) {
  tfaot::Expected<int> number(7);
  EXPECT_TRUE(number);
  EXPECT_EQ(*number, 7);
  tfaot::Expected<int> failed(tfaot::Failure{TFAOT_FAILED, "no model"});
  EXPECT_FALSE(failed);
  EXPECT_EQ(failed.error().status, TFAOT_FAILED);
  try {
    static_cast<void>(*failed);
    ADD_FAILURE();
  } catch (const std::logic_error& error) {
    EXPECT_STREQ(error.what(), "a result of tfaot was used without a check: no model");
  }
}

TEST_F(ModelsTest, RunAtAnySize) {
  auto model = models_.load("sized");
  ASSERT_TRUE(model) << error_of(model);
  ASSERT_EQ(model->dimensions().size(), 2U);
  EXPECT_STREQ(model->dimensions()[0].name, "n");
  for (const std::int64_t n : {7, 7, 1, 40}) {
    const tfaot_test::SizedRows sample(3, n, 2);
    std::vector<float> total(6), each(sample.each.size());
    EXPECT_EQ(error_of(model->run(3, {{"n", static_cast<std::size_t>(n)}, {"k", 2}},
                                  {{"x", sample.x}, {"w", sample.w}},
                                  {{"total", total}, {"each", each}})),
              "");
    EXPECT_EQ(each, sample.each);
    const std::array<std::int64_t, 2> sizes = {n, 2};
    std::vector<float> again(each.size());
    EXPECT_EQ(error_of(model->run(3, sizes, inputs(sample.x, sample.w), outputs(total, again))),
              "");
    EXPECT_EQ(again, sample.each);
  }
  const tfaot_test::SizedRows largest(1, 40, 6);  // after a smaller one
  std::vector<float> total(2), each(46);
  EXPECT_EQ(error_of(model->run(1, {{"x", largest.x}, {"w", largest.w}},
                                {{"total", total}, {"each", each}})),
            "");
  EXPECT_EQ(each, largest.each);
}

TEST_F(ModelsTest, RunRaggedRows) {
  auto model = models_.load("sized");
  ASSERT_TRUE(model) << error_of(model);
  auto typed = models_.load<tfaot_model::sized>("sized");
  ASSERT_TRUE(typed) << error_of(typed);
  const tfaot_test::SizedRows sample({{7, 0}, {40, 6}, {40, 6}, {1, 3}});
  const tfaot::Span<const std::size_t> n(sample.n_offsets), k(sample.k_offsets);
  const auto expect_right = [&](const auto& run) {
    std::vector<float> total(sample.total.size()), each(sample.each.size());
    EXPECT_EQ(error_of(run(total, each)), "");
    EXPECT_EQ(total, sample.total);
    EXPECT_EQ(each, sample.each);
  };
  ASSERT_EQ(error_of(model->prepare(4)), "");
  expect_right([&](std::vector<float>& total, std::vector<float>& each) {
    const std::size_t before = tfaot_test::allocations();
    auto ran = model->run_ragged(4, {{"k", k}, {"n", n}}, {{"w", sample.w}, {"x", sample.x}},
                                 {{"total", total}, {"each", each}});
    EXPECT_EQ(tfaot_test::allocations(), before);
    return ran;
  });
  expect_right([&](std::vector<float>& total, std::vector<float>& each) {
    const std::array<tfaot::Span<const std::size_t>, 2> offsets = {n, k};
    return model->run_ragged(4, offsets, inputs(sample.x, sample.w), outputs(total, each));
  });
  expect_right([&](std::vector<float>& total, std::vector<float>& each) {
    return typed->run_ragged(4, {n, k}, {sample.x, sample.w}, {total, each});
  });
}

TEST_F(ModelsTest, RaggedRowsThatDoNotFitAreNamed) {
  auto model = models_.load("sized");
  const tfaot_test::SizedRows sample({{7, 0}, {1, 3}});
  std::vector<float> total(4), each(sample.each.size());
  const std::vector<double> doubles(sample.x.size());
  const std::vector<std::size_t> large = {0, 7, 48};
  const auto run = [&](std::initializer_list<tfaot::NamedOffsets> offsets,
                       const tfaot::NamedInput& x) {
    return error_of(
        model->run_ragged(2, offsets, {x, {"w", sample.w}}, {{"total", total}, {"each", each}}));
  };
  const tfaot::NamedOffsets n{"n", sample.n_offsets}, k{"k", sample.k_offsets};
  EXPECT_EQ(run({n, k}, {"x", sample.x}), "");
  EXPECT_EQ(run({n}, {"x", sample.x}), "model 'sized' 1.0.0: the offsets of 'k' are left out");
  EXPECT_EQ(run({n, {"m", sample.k_offsets}}, {"x", sample.x}),
            "model 'sized' 1.0.0: no free dimension 'm'; it has n, k");
  EXPECT_EQ(run({{"n", {sample.n_offsets.data(), 2}}, k}, {"x", sample.x}),
            "model 'sized' 1.0.0: the offsets of 'n' are 2, but 2 rows have 3");
  EXPECT_EQ(run({n, k}, {"x", doubles}),
            "model 'sized' 1.0.0: input 'x' holds float64, but float32 is expected");
  EXPECT_EQ(run({n, k}, {"x", sample.w}),
            "model 'sized' 1.0.0: input 'x' holds 3 elements, but all rows together have 24");
  EXPECT_EQ(run({{"n", large}, k}, {"x", sample.x}),
            "model 'sized' 1.0.0: the size of 'n' is 41, but the code is for 1 to 40");
  EXPECT_EQ(error_of(model->run_ragged(2, tfaot::Span<const tfaot::Span<const std::size_t>>(),
                                       inputs(sample.x, sample.w), outputs(total, each))),
            "model 'sized' 1.0.0: offsets of 0 dimensions, but the model has 2 free dimensions");
}

TEST_F(ModelsTest, SizesThatDoNotFitAreNamed) {
  auto model = models_.load("sized");
  std::vector<float> x(21), w(2), total(2), each(9);
  const auto run = [&](std::initializer_list<tfaot::NamedSize> sizes) {
    return error_of(model->run(1, sizes, {{"x", x}, {"w", w}}, {{"total", total}, {"each", each}}));
  };
  EXPECT_EQ(run({{"n", 7}, {"k", 7}}),
            "model 'sized' 1.0.0: the size of 'k' is 7, but the code is for 0 to 6");
  EXPECT_EQ(run({{"m", 7}}), "model 'sized' 1.0.0: no free dimension 'm'; it has n, k");
  EXPECT_EQ(run({{"n", 8}, {"k", 2}}),
            "model 'sized' 1.0.0: input 'x' holds 21 elements of float32, but 1 rows of float32 "
            "[8, 3] are expected");
  EXPECT_EQ(run({{"n", 7}, {"k", 2}}), "");
}

TEST_F(ModelsTest, AClassKnowsItsSizes) {
  auto model = models_.load<tfaot_model::sized>("sized");
  ASSERT_TRUE(model) << error_of(model);
  const tfaot_test::SizedRows sample(2, 5, 1);
  std::vector<float> total(4), each(sample.each.size());
  EXPECT_EQ(error_of(model->run(2, {5, 1}, {sample.x, sample.w}, {total, each})), "");
  EXPECT_EQ(each, sample.each);
}

}  // namespace
