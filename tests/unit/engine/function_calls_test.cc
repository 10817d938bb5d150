// SPDX-License-Identifier: Apache-2.0
// Functions of products' and convolutions' results become parts of their calls.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/hlo/simplify.h"
#include "compiler/kernels/kernel_facts.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;

struct WithFunctions {
  std::vector<std::string> kernels;
  std::vector<kernels::ResultFunction> functions;  // that calls have, in order
  std::unique_ptr<xla::HloModule> module;

  bool has_loops() const {
    for (const auto* one : module->entry_computation()->instructions()) {
      if (one->IsElementwise() && one->operand_count() > 0) return true;
    }
    return false;
  }
};

// Compares what the module computes before and after. Parameters from the second on are weights.
WithFunctions with_functions(const std::string& text) {
  WithFunctions made{{}, {}, testing::parse_hlo(text)};
  EXPECT_TRUE(simplify(*made.module));
  const auto before = testing::result_with_kernels(*made.module);
  EXPECT_TRUE(testing::run_kernel_passes(*made.module, 1));
  EXPECT_TRUE(testing::run_passes("replace_softmax", "replace_gelu", *made.module, 1));
  EXPECT_TRUE(testing::run_pass("replace_dense_chains", *made.module, 1));
  EXPECT_TRUE(testing::run_pass("absorb_function", *made.module));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*made.module)), 1e-5)
      << made.module->ToString();
  made.kernels = testing::called_kernels(*made.module);
  for (const auto* one : made.module->entry_computation()->MakeInstructionPostOrder()) {
    const auto word = word_of_epilogue(*one);
    if (!word || (call_words(*one).at(*word) & kernels::kEpilogueFunction) == 0) continue;
    const auto words = one->operands().back()->literal().data<std::int64_t>();
    kernels::ResultFunction function{};
    std::memcpy(&function, words.data(), sizeof function);
    made.functions.push_back(function);
  }
  return made;
}

// What goes before functions of `y`, whose shape is V: constants of that shape.
constexpr const char* kNumbers = R"(
  n0 = f32[] constant(0)
  n1 = f32[] constant(1)
  n3 = f32[] constant(3)
  n6 = f32[] constant(6)
  nhalf = f32[] constant(0.5)
  nfifth = f32[] constant(0.2)
  nsixth = f32[] constant(0.16666667)
  zeros = f32[V] broadcast(n0), dimensions={}
  ones = f32[V] broadcast(n1), dimensions={}
  threes = f32[V] broadcast(n3), dimensions={}
  sixes = f32[V] broadcast(n6), dimensions={}
  halves = f32[V] broadcast(nhalf), dimensions={}
  fifths = f32[V] broadcast(nfifth), dimensions={}
  sixths = f32[V] broadcast(nsixth), dimensions={}
)";

std::string with_shape(std::string text, const std::string& shape) {
  for (std::size_t at = 0; (at = text.find("[V]", at)) != std::string::npos; at += shape.size()) {
    text.replace(at, 3, "[" + shape + "]");
  }
  return text;
}

// `function` makes f32[3,24] r of y, which is x w + b.
std::string after_dense(const std::string& function) {
  return with_shape(std::string("\nENTRY e {") + kNumbers + R"(
  x = f32[3,12] parameter(0)
  w = f32[12,24] parameter(1)
  b = f32[24] parameter(2)
  p = f32[V] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bs = f32[V] broadcast(b), dimensions={1}
  y = f32[V] add(p, bs)
  )" + function + "\n}",
                    "3,24");
}

kernels::ResultFunction only_function(const std::string& text) {
  const WithFunctions made = with_functions(text);
  EXPECT_EQ(made.functions.size(), 1U) << made.module->ToString();
  EXPECT_FALSE(made.has_loops()) << made.module->ToString();
  return made.functions.empty() ? kernels::ResultFunction{} : made.functions.front();
}

// As Keras, PyTorch's exporter, tf2onnx and ONNX's HardSwish write it.
TEST(FunctionCalls, HardSwish) {
  for (const char* const text : {"a = f32[V] add(y, threes)\n c = f32[V] clamp(zeros, a, sixes)\n"
                                 "s = f32[V] multiply(c, sixths)\n ROOT r = f32[V] multiply(y, s)",
                                 "a = f32[V] add(y, threes)\n c = f32[V] clamp(zeros, a, sixes)\n"
                                 "s = f32[V] multiply(y, c)\n ROOT r = f32[V] divide(s, sixes)",
                                 "a = f32[V] add(threes, y)\n m = f32[V] maximum(a, zeros)\n"
                                 "c = f32[V] minimum(m, sixes)\n s = f32[V] multiply(y, sixths)\n"
                                 "ROOT r = f32[V] multiply(s, c)",
                                 "t = f32[V] multiply(y, sixths)\n a = f32[V] add(t, halves)\n"
                                 "m = f32[V] minimum(a, ones)\n c = f32[V] maximum(m, zeros)\n"
                                 "ROOT r = f32[V] multiply(y, c)"}) {
    const auto function = only_function(after_dense(text));
    EXPECT_EQ(function.kind, kernels::kFunctionHardSwish) << text;
    EXPECT_NEAR(function.above, 1.0 / 6, 1e-7) << text;
    EXPECT_NEAR(function.below, 0.5, 1e-7) << text;
  }
}

// Its sum and its limits are not taken for a bias and a relu6.
TEST(FunctionCalls, HardSigmoid) {
  for (const char* const text :
       {"a = f32[V] add(y, threes)\n c = f32[V] clamp(zeros, a, sixes)\n"
        "ROOT r = f32[V] multiply(c, sixths)",
        "t = f32[V] multiply(y, sixths)\n a = f32[V] add(t, halves)\n"
        "m = f32[V] maximum(a, zeros)\n ROOT r = f32[V] minimum(m, ones)"}) {
    const auto function = only_function(after_dense(text));
    EXPECT_EQ(function.kind, kernels::kFunctionHardSigmoid) << text;
    EXPECT_NEAR(function.above, 1.0 / 6, 1e-7) << text;
    EXPECT_NEAR(function.below, 0.5, 1e-7) << text;
  }
  const auto other =
      only_function(after_dense("t = f32[V] multiply(y, fifths)\n a = f32[V] add(t, halves)\n"
                                "ROOT r = f32[V] clamp(zeros, a, ones)"));
  EXPECT_EQ(other.kind, kernels::kFunctionHardSigmoid);
  EXPECT_NEAR(other.above, 0.2, 1e-7);
}

// Limits that are no gate from 0 to 1, and a gate of another number, stay XLA's.
TEST(FunctionCalls, NothingElseIsAHardFunction) {
  for (const char* const text :
       {"a = f32[V] add(y, threes)\n c = f32[V] clamp(zeros, a, sixes)\n"
        "s = f32[V] multiply(c, fifths)\n ROOT r = f32[V] multiply(y, s)",
        "a = f32[V] add(y, threes)\n c = f32[V] clamp(ones, a, sixes)\n"
        "s = f32[V] multiply(c, sixths)\n ROOT r = f32[V] multiply(y, s)",
        "e = f32[V] multiply(y, y)\n a = f32[V] add(e, threes)\n"
        "c = f32[V] clamp(zeros, a, sixes)\n s = f32[V] multiply(c, sixths)\n"
        "ROOT r = f32[V] multiply(y, s)"}) {
    EXPECT_TRUE(with_functions(after_dense(text)).functions.empty()) << text;
  }
}

TEST(FunctionCalls, SwishSigmoidAndLeakyRelu) {
  EXPECT_EQ(only_function(after_dense("g = f32[V] logistic(y)\n"
                                      "ROOT r = f32[V] multiply(y, g)"))
                .kind,
            kernels::kFunctionSwish);
  EXPECT_EQ(only_function(after_dense("ROOT r = f32[V] logistic(y)")).kind,
            kernels::kFunctionSigmoid);
  const auto leaky =
      only_function(after_dense("s = f32[V] multiply(y, fifths)\n ROOT r = f32[V] maximum(y, s)"));
  EXPECT_EQ(leaky.kind, kernels::kFunctionLeaky);
  EXPECT_NEAR(leaky.below, 0.2, 1e-7);
}

// XLA's loop makes it faster.
TEST(FunctionCalls, NotTanh) {
  EXPECT_TRUE(with_functions(after_dense("ROOT r = f32[V] tanh(y)")).functions.empty());
}

TEST(FunctionCalls, NotIfTheResultIsUsedElsewhere) {
  EXPECT_TRUE(with_functions(after_dense("g = f32[V] logistic(y)\n"
                                         "ROOT r = f32[V] subtract(y, g)"))
                  .functions.empty());
}

// After a sum with another tensor, through reshapes, and of kernels that follow each other.
TEST(FunctionCalls, AfterASumAndBehindReshapes) {
  const WithFunctions made = with_functions(with_shape(std::string("\nENTRY e {") + kNumbers + R"(
  x = f32[3,24] parameter(0)
  w = f32[24,24] parameter(1)
  b = f32[24] parameter(2)
  p = f32[V] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bs = f32[V] broadcast(b), dimensions={1}
  q = f32[V] add(p, bs)
  y = f32[V] add(q, x)
  v = f32[1,3,24] reshape(y)
  g = f32[1,3,24] logistic(v)
  ROOT r = f32[1,3,24] multiply(v, g)
})",
                                                       "3,24"));
  ASSERT_EQ(made.functions.size(), 1U) << made.module->ToString();
  EXPECT_EQ(made.functions[0].kind, kernels::kFunctionSwish);
}

// A convolution of `channels` channels to `out`, of the attributes, and hard swish after it.
std::string after_convolution(int channels, const std::string& filter, const std::string& result,
                              const std::string& attributes) {
  return with_shape(
      fmt::format("\nENTRY e {{{}", kNumbers) +
          fmt::format(R"(
  x = f32[2,9,9,{}] parameter(0)
  w = f32[{}] parameter(1)
  b = f32[{}] parameter(2)
  p = f32[V] convolution(x, w), {}, dim_labels=b01f_01io->b01f
  bs = f32[V] broadcast(b), dimensions={{3}}
  y = f32[V] add(p, bs)
  a = f32[V] add(y, threes)
  c = f32[V] clamp(zeros, a, sixes)
  s = f32[V] multiply(c, sixths)
  ROOT r = f32[V] multiply(y, s)
}})",
                      channels, filter, result.substr(result.rfind(',') + 1), attributes),
      result);
}

TEST(FunctionCalls, OfEveryKindOfConvolution) {
  const auto made_of = [](const std::string& text) {
    const WithFunctions made = with_functions(text);
    EXPECT_EQ(made.functions.size(), 1U) << made.module->ToString();
    return made.kernels;
  };
  EXPECT_THAT(made_of(after_convolution(5, "3,3,5,7", "2,4,4,7", "window={size=3x3 stride=2x2}")),
              ElementsAre("convolution_f32"));
  EXPECT_THAT(made_of(after_convolution(5, "1,1,5,7", "2,9,9,7", "window={size=1x1}")),
              ElementsAre("matmul_f32"));
  EXPECT_THAT(
      made_of(after_convolution(32, "3,3,32,32", "2,9,9,32", "window={size=3x3 pad=1_1x1_1}")),
      ElementsAre("winograd_convolution_f32"));
  EXPECT_THAT(made_of(after_convolution(6, "3,3,1,6", "2,9,9,6",
                                        "window={size=3x3 pad=1_1x1_1}, feature_group_count=6")),
              ElementsAre("depthwise_f32"));
  EXPECT_THAT(made_of(after_convolution(5, "2,2,5,7", "2,18,18,7",
                                        "window={size=2x2 pad=1_1x1_1 lhs_dilate=2x2}")),
              ElementsAre("transposed_convolution_f32"));
}

// Its phases lie between each other.
TEST(FunctionCalls, NotOfADepthwiseConvolutionWithBaseDilation) {
  const WithFunctions made = with_functions(
      after_convolution(6, "2,2,1,6", "2,18,18,6",
                        "window={size=2x2 pad=1_1x1_1 lhs_dilate=2x2}, feature_group_count=6"));
  EXPECT_THAT(made.kernels, ElementsAre("depthwise_f32"));
  EXPECT_TRUE(made.functions.empty());
}

}  // namespace
}  // namespace tfaot::toolkit::engine
