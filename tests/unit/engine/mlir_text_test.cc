// SPDX-License-Identifier: Apache-2.0
// What is read from MLIR as text, in the form that XLA prints and in that of artifacts.
#include "compiler/hlo/constant_calls.h"
#include "front/stablehlo/stablehlo_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Pair;

constexpr const char* kText = R"(#loc = loc(unknown)
#loc3 = loc("scale")
module @jit_net {
  func.func public @main(%arg0: tensor<?x16xf32> loc("events['muon'].pt"), %arg1: tensor<?xi64> {mhlo.sharding = "{}"} loc(#loc3), %arg2: tensor<i32> {jax.global_constant = "_platform_index"}, %arg3: tensor<2xui8> {tfaot.name = "mask", tfaot.sizes = "2"}) -> (tensor<?x8xf32> {jax.result_info = "result['score']"}, tensor<f64> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<"0x0000803F"> : tensor<4x8xf32> loc(#loc9)
    %c = stablehlo.constant dense<[1, 2]> : tensor<2xi32> loc(#loc)
    %0 = stablehlo.custom_call @odd(%arg0) {backend_config = "a > b : stablehlo.add"} : (tensor<?x16xf32>) -> tensor<?x8xf32> loc(#loc5)
    %1 = stablehlo.add %0, %0 : tensor<?x8xf32> loc(#loc4)
    %2 = chlo.erf %1 : tensor<?x8xf32> -> tensor<?x8xf32> loc(callsite("f"("net.py":1:2 to :5) at #loc))
    return %2, %cst : tensor<?x8xf32>, tensor<f64> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc4 = loc("jit(net)/add"(#loc3))
)";

constexpr const char* kArtifact = R"(module @jit_net {
  vhlo.func_v1 @main(%arg0: !vhlo.tensor_v1<?x16x!vhlo.f32_v1>, %arg1: !vhlo.tensor_v1<!vhlo.bool_v1>) -> (!vhlo.tensor_v1<?x8x!vhlo.bf16_v1>) {
    %0 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0.5> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %1 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0.5> : tensor<4x4xf32>>}> : () -> !vhlo.tensor_v1<4x4x!vhlo.f32_v1>
    "vhlo.return_v1"(%0) : (!vhlo.tensor_v1<?x8x!vhlo.bf16_v1>) -> ()
  } {arg_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{#vhlo.string_v1<"tfaot.name"> = #vhlo.string_v1<"x">, #vhlo.string_v1<"tfaot.sizes"> = #vhlo.string_v1<"b,16">}>, #vhlo.dict_v1<{}>]>, res_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{#vhlo.string_v1<"jax.result_info"> = #vhlo.string_v1<"['y']">}>]>}
})";

std::vector<std::string> names_of(const std::vector<FunctionValue>& values) {
  std::vector<std::string> names;
  for (const FunctionValue& value : values) names.push_back(value.name);
  return names;
}

TEST(MlirText, FindsTheSignature) {
  const auto main = find_function(kText, "main");
  ASSERT_TRUE(main);
  EXPECT_THAT(names_of(main->arguments), ElementsAre("muon_pt", "scale", "", "mask"));
  EXPECT_THAT(names_of(main->results), ElementsAre("score", ""));
  EXPECT_EQ(main->arguments[2].global_constant, "_platform_index");
  EXPECT_THAT(main->arguments[0].tensor->sizes, ElementsAre(-1, 16));
  EXPECT_EQ(main->arguments[1].tensor->element, "i64");
  EXPECT_THAT(main->arguments[3].sizes, ElementsAre("2"));
  EXPECT_THAT(main->results[1].tensor->sizes, IsEmpty());
  EXPECT_EQ(main->results[1].tensor->element, "f64");
  EXPECT_FALSE(find_function(kText, "other"));
}

TEST(MlirText, FindsTheSignatureOfAnArtifact) {
  const auto main = find_function(kArtifact, "main");
  ASSERT_TRUE(main);
  EXPECT_THAT(names_of(main->arguments), ElementsAre("x", ""));
  EXPECT_THAT(main->arguments[0].tensor->sizes, ElementsAre(-1, 16));
  EXPECT_THAT(main->arguments[0].sizes, ElementsAre("b", "16"));
  EXPECT_EQ(main->arguments[1].tensor->element, "i1");
  EXPECT_THAT(names_of(main->results), ElementsAre("y"));
  EXPECT_EQ(main->results[0].tensor->element, "bf16");
}

TEST(MlirText, NamesOfArgumentsInMlir) {
  const auto main = find_function(
      "  func.func @main(%image: tensor<2xf32>, %arg1: tensor<2xf32>, %7: tensor<2xf32>) {\n",
      "main");
  ASSERT_TRUE(main);
  EXPECT_THAT(names_of(main->arguments), ElementsAre("image", "", ""));
  EXPECT_THAT(main->results, IsEmpty());
}

TEST(MlirText, TensorsOfOtherKinds) {
  const auto main = find_function(
      "  func.func @main(%a: !stablehlo.token, %b: tensor<?x3xf32, #stablehlo.bounds<4, ?>>, %c: "
      "tensor<*xf32>) -> tensor<complex<f32>> {\n",
      "main");
  ASSERT_TRUE(main);
  ASSERT_EQ(main->arguments.size(), 3U);
  for (const FunctionValue& value : main->arguments) EXPECT_FALSE(value.tensor) << value.type;
  ASSERT_EQ(main->results.size(), 1U);
  EXPECT_FALSE(main->results[0].tensor);
}

TEST(MlirText, LocationsGoAndLinesStay) {
  const std::string text = without_locations(kText);
  EXPECT_THAT(text, Not(HasSubstr("loc(")));
  EXPECT_THAT(text, Not(HasSubstr("#loc")));
  EXPECT_THAT(text, HasSubstr("%1 = stablehlo.add %0, %0 : tensor<?x8xf32>\n"));
  const std::string whole = kText;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'),
            std::count(whole.begin(), whole.end(), '\n'));
  EXPECT_EQ(without_locations("x = \"loc(1)\" %loc(2) loc(\"a)\"(b))y"), "x = \"loc(1)\" %loc(2)y");
}

TEST(MlirText, LiftsLargeConstants) {
  const LiftedText lifted = lift_constants(kText);
  ASSERT_EQ(lifted.constants.size(), 1U);
  EXPECT_EQ(std::string_view(kText).substr(lifted.constants[0].value, lifted.constants[0].size),
            "dense<\"0x0000803F\">");
  EXPECT_THAT(lifted.constants[0].type.sizes, ElementsAre(4, 8));
  EXPECT_THAT(lifted.text, HasSubstr("%cst = stablehlo.custom_call @tfaot.constant_0() : () -> "
                                     "tensor<4x8xf32> loc(#loc9)\n"));
  EXPECT_THAT(lifted.text, HasSubstr("dense<[1, 2]>"));
}

TEST(MlirText, LiftsConstantsOfAnArtifact) {
  const LiftedText lifted = lift_constants(kArtifact);
  ASSERT_EQ(lifted.constants.size(), 1U);
  EXPECT_THAT(lifted.text, HasSubstr("call_target_name = #vhlo.string_v1<\"tfaot.constant_0\">"));
  EXPECT_THAT(lifted.text, HasSubstr("}> : () -> !vhlo.tensor_v1<4x4x!vhlo.f32_v1>"));
  EXPECT_THAT(lifted.text, HasSubstr("dense<0.5> : tensor<f32>"));
}

TEST(MlirText, WholeNumbersAreWeightsOnlyIfTheyAreMany) {
  const auto count = [](const std::string& type) {
    return lift_constants("%c = stablehlo.constant dense<1> : tensor<" + type + ">\n")
        .constants.size();
  };
  EXPECT_EQ(count("15xf32"), 0U);
  EXPECT_EQ(count("16xf32"), 1U);
  EXPECT_EQ(count("16xbf16"), 1U);
  EXPECT_EQ(count("16xi8"), 1U);
  EXPECT_EQ(count("4095xi32"), 0U);
  EXPECT_EQ(count("64x64xi32"), 1U);
  EXPECT_EQ(count("0x64xf32"), 0U);
  EXPECT_EQ(count("64xi4"), 0U);
  EXPECT_EQ(count("99999999999999999999xf32"), 0U);
}

TEST(MlirText, CallsOfConstantsHaveNumbers) {
  EXPECT_EQ(constant_of_call(constant_call(12)), 12U);
  for (const char* const other : {"", "Sharding", "tfaot.constant_", "tfaot.constant_1x"}) {
    EXPECT_FALSE(constant_of_call(other)) << other;
  }
}

TEST(MlirText, CountsOperations) {
  EXPECT_THAT(count_operations(kText), ElementsAre(Pair("chlo.erf", 1), Pair("stablehlo.add", 1),
                                                   Pair("stablehlo.custom_call", 1)));
  EXPECT_THAT(count_operations(kArtifact), IsEmpty());
  EXPECT_THAT(count_operations("%1 = \"vhlo.dot_general_v2\"(%0)"),
              ElementsAre(Pair("stablehlo.dot_general", 1)));
}

// Texts that end anywhere are read without harm.
TEST(MlirText, TextsThatEndAnywhere) {
  for (const std::string_view text : {std::string_view(kText), std::string_view(kArtifact)}) {
    for (std::size_t size = 0; size < text.size(); ++size) {
      const std::string_view start = text.substr(0, size);
      static_cast<void>(find_function(start, "main"));
      static_cast<void>(lift_constants(start));
      static_cast<void>(without_locations(start));
      static_cast<void>(count_operations(start));
    }
  }
}

}  // namespace
}  // namespace tfaot::toolkit::engine
