// SPDX-License-Identifier: Apache-2.0
// Dense layers that follow each other become one call, which gives the same.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/hlo/simplify.h"
#include "compiler/kernels/kernel_call.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;

struct Made {
  std::vector<std::string> kernels;
  std::vector<kernels::DenseLayer> layers;  // of the first chain
  std::int64_t weights_in = 0;              // of the last one
  std::unique_ptr<xla::HloModule> module;
};

// Parameters from the second on are weights.
Made made_of(const std::string& text) {
  Made made{{}, {}, 0, testing::parse_hlo(text)};
  const auto before = testing::result_with_kernels(*made.module);
  EXPECT_TRUE(simplify(*made.module));
  EXPECT_TRUE(testing::run_kernel_passes(*made.module, 1));
  EXPECT_TRUE(testing::run_passes("replace_softmax", "replace_gelu", *made.module, 1));
  EXPECT_TRUE(testing::run_pass("replace_dense_chains", *made.module, 1));
  if (before.shape().IsArray()) {
    EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*made.module)),
              1e-5)
        << made.module->ToString();
  }
  made.kernels = testing::called_kernels(*made.module);
  for (const auto* one : made.module->entry_computation()->MakeInstructionPostOrder()) {
    if (!is_call_of(*one, Kernel::kDenseChain)) continue;
    if (made.layers.empty()) made.layers = dense_layers(*one);
    made.weights_in = call_of<kernels::DenseChainCall>(*one).weights_in;
  }
  return made;
}

// Two layers of 24 and 10 with a function of `y`, f32[<rows>,24], called `f`, between them.
std::string two_layers(const std::string& function, int rows = 3) {
  return fmt::format(R"(
ENTRY e {{
  x = f32[{0},12] parameter(0)
  w0 = f32[12,24] parameter(1)
  b0 = f32[24] parameter(2)
  w1 = f32[24,10] parameter(3)
  zero = f32[] constant(0)
  one = f32[] constant(1)
  part = f32[] constant(0.3)
  zeros = f32[{0},24] broadcast(zero), dimensions={{}}
  ones = f32[{0},24] broadcast(one), dimensions={{}}
  parts = f32[{0},24] broadcast(part), dimensions={{}}
  p = f32[{0},24] dot(x, w0), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  b = f32[{0},24] broadcast(b0), dimensions={{1}}
  y = f32[{0},24] add(p, b)
  {1}
  ROOT r = f32[{0},10] dot(f, w1), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}})",
                     rows, function);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// `function`: with V for the shape.
kernels::DenseLayer first_layer(const std::string& function, int rows = 3) {
  const std::string shape = fmt::format("[{},24]", rows);
  const Made made = made_of(two_layers(replaced(function, "[V]", shape), rows));
  EXPECT_THAT(made.kernels, ElementsAre("dense_chain_f32")) << made.module->ToString();
  EXPECT_EQ(made.layers.size(), 2U);
  return made.layers.empty() ? kernels::DenseLayer{} : made.layers.front();
}

TEST(DenseChainCalls, OfLayersWithRelu) {
  const auto layer = first_layer("f = f32[V] maximum(y, zeros)");
  EXPECT_EQ(layer.columns, 24);
  EXPECT_EQ(layer.epilogue, kernels::kEpilogueBias | kernels::kEpilogueRelu);
  EXPECT_EQ(layer.function.kind, kernels::kFunctionNone);
}

TEST(DenseChainCalls, OfAnyNumberOfRows) {
  for (const int rows : {1, 2, 17, 300}) first_layer("f = f32[V] maximum(y, zeros)", rows);
}

// The last layer's weights in a call of `rows`, where `depth` numbers become `columns`.
std::string last_weights(int rows, int depth, int columns) {
  std::string text =
      replaced(two_layers("f = f32[V] maximum(y, zeros)", rows), "24", std::to_string(depth));
  text = replaced(replaced(text, "[V]", fmt::format("[{},{}]", rows, depth)), "10]",
                  std::to_string(columns) + "]");
  const Made made = made_of(text);
  for (const auto* one : made.module->entry_computation()->MakeInstructionPostOrder()) {
    if (!is_call_of(*one, Kernel::kDenseChain)) continue;
    return fmt::format("{}",
                       fmt::join(dimensions_of(*one->operand(one->operand_count() - 1)), ","));
  }
  return "";
}

TEST(DenseChainCalls, HaveNarrowWeightsForFewColumnsOfARowAlone) {
  EXPECT_EQ(last_weights(1, 64, 8), "32,16");
  EXPECT_EQ(last_weights(1, 64, 5), "32,16");
  EXPECT_EQ(last_weights(1, 33, 3), "9,16");
  EXPECT_EQ(last_weights(1, 64, 9), "1,1,64,16");
  EXPECT_EQ(last_weights(1, 31, 8), "1,1,31,16");
  EXPECT_EQ(last_weights(2, 64, 8), "1,1,64,16");
}

TEST(DenseChainCalls, LeaveTanhOfManyRowsToXla) {
  EXPECT_EQ(first_layer("f = f32[V] tanh(y)", 32).function.kind, kernels::kFunctionTanh);
  EXPECT_EQ(first_layer("f = f32[V] tanh(y)", 1).function.kind, kernels::kFunctionTanh);
  const Made made = made_of(two_layers("f = f32[33,24] tanh(y)", 33));
  EXPECT_THAT(made.kernels, ElementsAre("matmul_f32", "matmul_f32"));
}

TEST(DenseChainCalls, OfFunctionsInOneOperation) {
  EXPECT_EQ(first_layer("f = f32[V] tanh(y)").function.kind, kernels::kFunctionTanh);
  EXPECT_EQ(first_layer("f = f32[V] logistic(y)").function.kind, kernels::kFunctionSigmoid);
  EXPECT_EQ(first_layer("g = f32[V] logistic(y)\n  f = f32[V] multiply(y, g)").function.kind,
            kernels::kFunctionSwish);
}

TEST(DenseChainCalls, OfGelu) {
  EXPECT_EQ(first_layer("root = f32[] constant(0.70710678)\n"
                        "  half = f32[] constant(0.5)\n"
                        "  roots = f32[V] broadcast(root), dimensions={}\n"
                        "  halves = f32[V] broadcast(half), dimensions={}\n"
                        "  u = f32[V] multiply(y, roots)\n  e = f32[V] erf(u)\n"
                        "  g = f32[V] add(e, ones)\n  h = f32[V] multiply(y, halves)\n"
                        "  f = f32[V] multiply(h, g)")
                .function.kind,
            kernels::kFunctionGelu);
}

TEST(DenseChainCalls, OfGeluByTanh) {
  EXPECT_EQ(first_layer("cube = f32[] constant(0.044715)\n  root = f32[] constant(0.7978846)\n"
                        "  half = f32[] constant(0.5)\n"
                        "  cubes = f32[V] broadcast(cube), dimensions={}\n"
                        "  roots = f32[V] broadcast(root), dimensions={}\n"
                        "  halves = f32[V] broadcast(half), dimensions={}\n"
                        "  y2 = f32[V] multiply(y, y)\n  y3 = f32[V] multiply(y2, y)\n"
                        "  c = f32[V] multiply(y3, cubes)\n  s = f32[V] add(y, c)\n"
                        "  u = f32[V] multiply(s, roots)\n  e = f32[V] tanh(u)\n"
                        "  g = f32[V] add(e, ones)\n  h = f32[V] multiply(y, halves)\n"
                        "  f = f32[V] multiply(h, g)")
                .function.kind,
            kernels::kFunctionGeluTanh);
}

// Their calls then share the constant that says how many numbers there are.
TEST(DenseChainCalls, OfGeluOfAsManyNumbers) {
  const auto gelu = [](const std::string& of, const std::string& to) {
    return fmt::format(
        "u{1} = f32[3,24] multiply({0}, roots)\n  e{1} = f32[3,24] erf(u{1})\n"
        "  g{1} = f32[3,24] add(e{1}, ones)\n  h{1} = f32[3,24] multiply({0}, halves)\n"
        "  {1} = f32[3,24] multiply(h{1}, g{1})\n  ",
        of, to);
  };
  const Made made = made_of(two_layers(
      "root = f32[] constant(0.70710678)\n  half = f32[] constant(0.5)\n"
      "  roots = f32[3,24] broadcast(root), dimensions={}\n"
      "  halves = f32[3,24] broadcast(half), dimensions={}\n"
      "  w2 = f32[24,24] parameter(4)\n  " +
      gelu("y", "k") +
      "l = f32[3,24] dot(k, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n  " +
      gelu("l", "f")));
  EXPECT_THAT(made.kernels, ElementsAre("dense_chain_f32"));
}

// As TensorFlow, ONNX's reader and JAX write them.
TEST(DenseChainCalls, OfLeakyRelu) {
  for (const char* const text :
       {"l = f32[V] multiply(y, parts)\n  c = pred[V] compare(y, zeros), direction=GT\n"
        "  f = f32[V] select(c, y, l)",
        "l = f32[V] multiply(parts, y)\n  c = pred[V] compare(y, zeros), direction=LT\n"
        "  f = f32[V] select(c, l, y)",
        "l = f32[V] multiply(y, parts)\n  f = f32[V] maximum(l, y)"}) {
    const auto layer = first_layer(text);
    EXPECT_EQ(layer.function.kind, kernels::kFunctionLeaky) << text;
    EXPECT_EQ(layer.function.above, 1);
    EXPECT_FLOAT_EQ(static_cast<float>(layer.function.below), 0.3F);
  }
}

TEST(DenseChainCalls, OfElu) {
  const auto elu = first_layer(
      "e = f32[V] exponential-minus-one(y)\n"
      "  c = pred[V] compare(y, zeros), direction=GT\n  f = f32[V] select(c, y, e)");
  EXPECT_EQ(elu.function.kind, kernels::kFunctionElu);
  EXPECT_EQ(elu.function.below, 1);
  const auto selu = first_layer(
      "e = f32[V] exponential-minus-one(y)\n  a = f32[V] multiply(e, parts)\n"
      "  c = pred[V] compare(zeros, y), direction=GT\n  s = f32[V] select(c, a, y)\n"
      "  f = f32[V] multiply(s, parts)");
  EXPECT_EQ(selu.function.kind, kernels::kFunctionElu);
  EXPECT_FLOAT_EQ(static_cast<float>(selu.function.above), 0.3F);
  EXPECT_FLOAT_EQ(static_cast<float>(selu.function.below), 0.09F);
}

TEST(DenseChainCalls, OfSoftplus) {
  const std::string log = "e = f32[V] exponential(y)\n  l = f32[V] log-plus-one(e)\n";
  EXPECT_EQ(first_layer(log + "  eps = f32[] constant(1.1920929e-07)\n  two = f32[] constant(2)\n"
                              "  least = f32[] log(eps)\n  low = f32[] add(least, two)\n"
                              "  high = f32[] negate(low)\n"
                              "  highs = f32[V] broadcast(high), dimensions={}\n"
                              "  lows = f32[V] broadcast(low), dimensions={}\n"
                              "  a = pred[V] compare(y, highs), direction=GT\n"
                              "  b1 = pred[V] compare(y, lows), direction=LT\n"
                              "  s = f32[V] select(b1, e, l)\n  f = f32[V] select(a, y, s)")
                .function.kind,
            kernels::kFunctionSoftplus);
  EXPECT_EQ(first_layer("m = f32[V] maximum(y, zeros)\n  a = f32[V] abs(y)\n"
                        "  n = f32[V] negate(a)\n  e = f32[V] exponential(n)\n"
                        "  l = f32[V] log-plus-one(e)\n  f = f32[V] add(m, l)")
                .function.kind,
            kernels::kFunctionSoftplus);
}

TEST(DenseChainCalls, EndAtOtherFunctions) {
  for (const char* const function :
       {"f = f32[3,24] sine(y)", "f = f32[3,24] multiply(y, y)",
        "g = f32[3,24] tanh(y)\n  f = f32[3,24] add(g, ones)",
        "c = pred[3,24] compare(y, ones), direction=GT\n  l = f32[3,24] multiply(y, parts)\n"
        "  f = f32[3,24] select(c, y, l)",
        "c = pred[3,24] compare(y, zeros), direction=GT\n  e = f32[3,24] exponential-minus-one(y)\n"
        "  f = f32[3,24] select(c, e, y)"}) {
    const Made made = made_of(two_layers(function));
    EXPECT_THAT(made.kernels, ElementsAre("matmul_f32", "matmul_f32")) << function;
  }
}

// The function after the last layer is part of the chain, whatever uses it.
TEST(DenseChainCalls, TakeTheLastFunction) {
  std::string text = two_layers("f = f32[3,24] tanh(y)");
  text = replaced(text, "ROOT r =", "r =");
  text.erase(text.rfind('}'));
  const Made made = made_of(text +
                            "  s = f32[3,10] logistic(r)\n  n = f32[3,10] negate(s)\n"
                            "  ROOT q = f32[3,10] multiply(s, n)\n}");
  EXPECT_THAT(made.kernels, ElementsAre("dense_chain_f32"));
  ASSERT_EQ(made.layers.size(), 2U);
  EXPECT_EQ(made.layers[1].function.kind, kernels::kFunctionSigmoid);
}

// What a layer makes is needed elsewhere, so a chain begins after it.
TEST(DenseChainCalls, EndWhereAResultIsUsedTwice) {
  const auto with_root = [](const std::string& root) {
    return made_of(R"(
ENTRY e {
  x = f32[3,12] parameter(0)
  w0 = f32[12,12] parameter(1)
  w1 = f32[12,12] parameter(2)
  w2 = f32[12,12] parameter(3)
  a = f32[3,12] dot(x, w0), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ta = f32[3,12] tanh(a)
  b = f32[3,12] dot(ta, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  tb = f32[3,12] tanh(b)
  c = f32[3,12] dot(tb, w2), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  )" + root + "\n}")
        .kernels;
  };
  EXPECT_THAT(with_root("ROOT r = f32[3,12] negate(c)"), ElementsAre("dense_chain_f32"));
  EXPECT_THAT(with_root("ROOT r = (f32[3,12], f32[3,12]) tuple(ta, c)"),
              ElementsAre("matmul_f32", "dense_chain_f32"));
  EXPECT_THAT(with_root("ROOT r = (f32[3,12], f32[3,12]) tuple(tb, c)"),
              ElementsAre("dense_chain_f32", "matmul_f32"));
  EXPECT_THAT(with_root("s = f32[3,12] slice(b), slice={[0:3], [0:12]}\n  n = f32[3,12] negate(b)\n"
                        "  ROOT r = (f32[3,12], f32[3,12]) tuple(n, c)"),
              ElementsAre("dense_chain_f32", "matmul_f32"));
}

// With reshapes between layers that keep the rows, and none that makes others.
TEST(DenseChainCalls, OfTheSameRows) {
  const auto between = [](const std::string& shape, const std::string& depth) {
    return made_of(R"(
ENTRY e {
  x = f32[2,3,12] parameter(0)
  w0 = f32[12,8] parameter(1)
  w1 = f32[)" + depth +
                   R"(,5] parameter(2)
  a = f32[2,3,8] dot(x, w0), lhs_contracting_dims={2}, rhs_contracting_dims={0}
  v = f32[)" + shape +
                   "," + depth + R"(] reshape(a)
  ROOT r = f32[)" + shape +
                   R"(,5] dot(v, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})")
        .kernels;
  };
  EXPECT_THAT(between("6", "8"), ElementsAre("dense_chain_f32"));
  EXPECT_THAT(between("2", "24"), ElementsAre("matmul_f32", "matmul_f32"));
}

// `rows` of two square layers.
Made square_layers(int width, int rows) {
  return made_of(fmt::format(R"(
ENTRY e {{
  x = f32[{1},{0}] parameter(0)
  w0 = f32[{0},{0}] parameter(1)
  w1 = f32[{0},{0}] parameter(2)
  a = f32[{1},{0}] dot(x, w0), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  ROOT r = f32[{1},{0}] dot(a, w1), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}})",
                             width, rows));
}

// Large weights stay by themselves: many rows meet them one layer after the other.
TEST(DenseChainCalls, AreOfSmallLayers) {
  const auto of_width = [](int width, int rows) { return square_layers(width, rows).kernels; };
  EXPECT_THAT(of_width(100, 3), ElementsAre("dense_chain_f32"));
  EXPECT_THAT(of_width(256, 3), ElementsAre("matmul_f32", "matmul_f32"));
  EXPECT_THAT(of_width(64, 100), ElementsAre("dense_chain_f32"));
  EXPECT_THAT(of_width(100, 100), ElementsAre("matmul_f32", "matmul_f32"));
}

TEST(DenseChainCalls, KnowWhereWeightsStay) {
  EXPECT_EQ(square_layers(70, 1).weights_in, kernels::kWeightsInFirstCache);
  EXPECT_EQ(square_layers(80, 1).weights_in, kernels::kWeightsInSecondCache);
  const Made made = made_of(R"(
ENTRY e {
  x = f32[1,8] parameter(0)
  w0 = f32[8,8] parameter(1)
  w1 = f32[8,8] parameter(2)
  other = f32[200000] parameter(3)
  a = f32[1,8] dot(x, w0), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  b = f32[1,8] dot(a, w1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT r = (f32[1,8], f32[200000]) tuple(b, other)
})");
  EXPECT_EQ(made.weights_in, kernels::kWeightsFurther);
}

// What makes a value, without names.
std::string text_of(const xla::HloInstruction& value) {
  std::string text = std::string(xla::HloOpcodeString(value.opcode())) + value.shape().ToString();
  for (const auto* operand : value.operands()) text += "(" + text_of(*operand) + ")";
  return text;
}

// So sizes of a batch with and without a chain share them.
TEST(DenseChainCalls, HaveTheWeightsOfTheirLayers) {
  const auto weights_of = [](const Made& made) {
    std::vector<std::string> weights;
    for (const auto* one : made.module->entry_computation()->MakeInstructionPostOrder()) {
      if (!is_kernel_call(*one)) continue;
      for (std::int64_t i = 2; i < one->operand_count(); ++i) {
        weights.push_back(text_of(*one->operand(i)));
      }
    }
    return weights;
  };
  const Made chain = square_layers(100, 3);
  const Made layers = square_layers(100, 100);
  EXPECT_THAT(chain.kernels, ElementsAre("dense_chain_f32"));
  EXPECT_THAT(layers.kernels, ElementsAre("matmul_f32", "matmul_f32"));
  EXPECT_EQ(weights_of(chain).size(), 2U);
  EXPECT_EQ(weights_of(chain), weights_of(layers));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
