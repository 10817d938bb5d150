// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "tests/unit/config/config_fixture.h"

namespace tfaot::toolkit {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using testing::load_text;
using ::testing::StartsWith;

constexpr const char* kOverridden =
    "model: {name: test, version: '1'}\n"
    "compilation: {batch_sizes: [1], namespace: a, cpu_levels: [x86-64], weights: embedded, "
    "rows: coupled}\n";

TEST(Overrides, ReplaceTheWordsOfTheFile) {
  const auto spec = load_text(kOverridden, {.batch_sizes = {"8", "2"},
                                            .namespace_name = "b::c",
                                            .cpu_levels = {"native", "x86-64-v3"},
                                            .target_triple = "x86_64-pc-linux",
                                            .weights = WeightsMode::kShared,
                                            .headers = HeadersMode::kCmssw,
                                            .rows = RowsMode::kAlone});
  ASSERT_TRUE(spec) << error_of(spec);
  EXPECT_THAT(spec->compilation.batch_sizes, ElementsAre(2, 8));
  EXPECT_EQ(spec->compilation.namespace_name, "b::c");
  EXPECT_THAT(spec->compilation.cpu_levels, ElementsAre("x86-64-v3", "native"));
  EXPECT_EQ(spec->compilation.target_triple, "x86_64-pc-linux");
  EXPECT_EQ(spec->compilation.weights, WeightsMode::kShared);
  EXPECT_EQ(spec->compilation.headers, HeadersMode::kCmssw);
  EXPECT_EQ(spec->compilation.rows, RowsMode::kAlone);
}

TEST(Overrides, LeaveTheRestAlone) {
  const auto spec = load_text(kOverridden, {.batch_sizes = {"8"}});
  ASSERT_TRUE(spec) << error_of(spec);
  EXPECT_EQ(spec->compilation.namespace_name, "a");
  EXPECT_THAT(spec->compilation.cpu_levels, ElementsAre("x86-64"));
  EXPECT_EQ(spec->compilation.weights, WeightsMode::kEmbedded);
  EXPECT_EQ(spec->compilation.headers, HeadersMode::kSelfContained);
  EXPECT_EQ(spec->compilation.rows, RowsMode::kCoupled);
}

TEST(Overrides, StandInForARequiredKey) {
  const auto spec = load_text("model: {name: test, version: '1'}\n", {.batch_sizes = {"8"}});
  ASSERT_TRUE(spec) << error_of(spec);
  EXPECT_THAT(spec->compilation.batch_sizes, ElementsAre(8));
}

TEST(Overrides, DoNotReachAnAliasOfTheReplacedValue) {
  const auto spec = load_text(
      "model: {name: &n test, version: '1'}\ncompilation: {batch_sizes: [1], namespace: *n}\n",
      {.namespace_name = "other"});
  ASSERT_TRUE(spec) << error_of(spec);
  EXPECT_EQ(spec->model.name, "test");
  EXPECT_EQ(spec->compilation.namespace_name, "other");
}

TEST(Overrides, ErrorsNameTheOptionAndAreUsageErrors) {
  const auto spec = load_text(kOverridden, {.batch_sizes = {"4", "0"}});
  ASSERT_FALSE(spec);
  EXPECT_EQ(spec.error().kind(), ErrorKind::kUsage);
  EXPECT_EQ(spec.error().text(),
            "--batch-sizes: 0 is not allowed\n"
            "  allowed: 1 to 1048576, in decimal digits");
  EXPECT_EQ(error_of(load_text(kOverridden, {.batch_sizes = {"4", "x"}})),
            "--batch-sizes: expected a whole number, found the string 'x'\n"
            "  allowed: 1 to 1048576, in decimal digits");
  EXPECT_EQ(error_of(load_text(kOverridden, {.batch_sizes = {"4", ""}})),
            "--batch-sizes: expected a whole number, found the string ''\n"
            "  allowed: 1 to 1048576, in decimal digits");
  EXPECT_EQ(error_of(load_text(kOverridden, {.batch_sizes = {"4", "4"}})),
            "--batch-sizes: 4 is given twice");
  EXPECT_EQ(error_of(load_text(kOverridden, {.namespace_name = "1"})),
            "--namespace: '1' is not allowed\n"
            "  allowed: a C++ namespace like 'a' or 'a::b'");
  EXPECT_THAT(error_of(load_text(kOverridden, {.cpu_levels = {"x86-64-v9"}})),
              StartsWith("--cpu-levels: 'x86-64-v9' is not allowed (did you mean 'x86-64-v2'?)\n"
                         "  allowed: x86-64, x86-64-v2, "));
}

TEST(Overrides, ATargetMustSuitTheLevelsOfTheFile) {
  EXPECT_EQ(
      error_of(load_text(kOverridden, {.target_triple = "aarch64-unknown-linux-gnu"})),
      "/m/aot_config.yaml:2:60: compilation.cpu_levels: 'x86-64' is not a level of the target "
      "aarch64-unknown-linux-gnu\n"
      "  allowed: generic, or a CPU of LLVM such as cortex-a72 or neoverse-n1 (see "
      "docs/config.md)");
}

TEST(Overrides, SizesOfDimensionsAreAddedOrReplaced) {
  const auto spec = load_text(
      "model: {name: test, version: '1', format: onnx, dimensions: {a: 1, b: 2}}\n"
      "compilation: {batch_sizes: [1]}\n",
      {.dimensions = {"b=3", "c=4"}});
  ASSERT_TRUE(spec) << error_of(spec);
  const auto& sizes = spec->model.dimensions;
  ASSERT_EQ(sizes.size(), 3U);
  EXPECT_EQ(sizes[0].size, 1);
  EXPECT_EQ(sizes[1].size, 3);
  EXPECT_EQ(sizes[2].name, "c");
}

TEST(Overrides, TheBatchIsReplacedToo) {
  const std::string model = "model: {name: test, version: '1', format: onnx}\n";
  const auto none = load_text(model, {.batch = BatchMode::kNone});
  ASSERT_TRUE(none) << error_of(none);
  EXPECT_THAT(none->compilation.batch_sizes, ElementsAre(1));
  const auto first = load_text(model + "compilation: {batch: none}\n",
                               {.batch_sizes = {"4"}, .batch = BatchMode::kFirst});
  ASSERT_TRUE(first) << error_of(first);
  EXPECT_THAT(first->compilation.batch_sizes, ElementsAre(4));
}

}  // namespace
}  // namespace tfaot::toolkit
