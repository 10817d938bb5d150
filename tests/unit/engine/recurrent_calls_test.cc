// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "compiler/hlo/simplify.h"
#include "compiler/kernels/kernel_call.h"
#include "tests/unit/engine/onnx_models.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A loop over five steps of two rows with three features, which come rows first; a state of eight.
// Its state: the counter, h, memory, all h, x with the steps first, w, u, b.
struct TestLoop {
  std::string gates = "32";  // columns of w, u and b
  std::string place = "t";   // of a step in the sequence
  std::string step;          // makes `h.next`, `m.next` of `z`, `h` and `m`
  std::string sum =
      R"(  xw = f32[2,$] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  hu = f32[2,$] dot(h, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bb = f32[2,$] broadcast(b), dimensions={1}
  s = f32[2,$] add(xw, hu)
  z = f32[2,$] add(s, bb)
)";
  std::string handed_on = "h.next";
  std::string memory = "m.next";
  std::string result = "sequence";  // "sequence", "last" or "memory"

  std::string text() const {
    const std::string state =
        "(s32[], f32[2,8], f32[2,8], f32[5,2,8], f32[5,2,3], f32[3,$], f32[8,$], f32[$])";
    const std::string index = result == "sequence" ? "3" : result == "last" ? "1" : "2";
    const std::string shape = result == "sequence" ? "f32[5,2,8]" : "f32[2,8]";
    const std::string root = result == "sequence"
                                 ? R"(  ROOT r = f32[2,5,8] transpose(o), dimensions={1,0,2}
}
)"
                                 : R"(  ROOT r = f32[2,8] copy(o)
}
)";
    std::string text =
        R"(cond {
  p = )" +
        state +
        R"( parameter(0)
  t = s32[] get-tuple-element(p), index=0
  n = s32[] constant(5)
  ROOT more = pred[] compare(t, n), direction=LT
}
body {
  p = )" +
        state +
        R"( parameter(0)
  t = s32[] get-tuple-element(p), index=0
  h = f32[2,8] get-tuple-element(p), index=1
  m = f32[2,8] get-tuple-element(p), index=2
  all = f32[5,2,8] get-tuple-element(p), index=3
  xs = f32[5,2,3] get-tuple-element(p), index=4
  w = f32[3,$] get-tuple-element(p), index=5
  u = f32[8,$] get-tuple-element(p), index=6
  b = f32[$] get-tuple-element(p), index=7
  zero = s32[] constant(0)
  one = s32[] constant(1)
  four = s32[] constant(4)
  back = s32[] subtract(four, t)
  x1 = f32[1,2,3] dynamic-slice(xs, )" +
        place + R"(, zero, zero), dynamic_slice_sizes={1,2,3}
  x = f32[2,3] reshape(x1)
)" + sum +
        step + "  h1 = f32[1,2,8] reshape(" + handed_on + ")\n" +
        "  all.next = f32[5,2,8] dynamic-update-slice(all, h1, " + place +
        R"(, zero, zero)
  t.next = s32[] add(t, one)
  ROOT made = )" +
        state + " tuple(t.next, " + handed_on + ", " + memory +
        R"(, all.next, xs, w, u, b)
}
ENTRY e {
  x = f32[2,5,3] parameter(0)
  w = f32[3,$] parameter(1)
  u = f32[8,$] parameter(2)
  b = f32[$] parameter(3)
  xs = f32[5,2,3] transpose(x), dimensions={1,0,2}
  t = s32[] constant(0)
  f = f32[] constant(0)
  h = f32[2,8] broadcast(f), dimensions={}
  all = f32[5,2,8] broadcast(f), dimensions={}
  start = )" +
        state + R"( tuple(t, h, h, all, xs, w, u, b)
  loop = )" +
        state +
        R"( while(start), condition=cond, body=body
  o = )" +
        shape + " get-tuple-element(loop), index=" + index + "\n" + root;
    for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$')) {
      text.replace(at, 1, gates);
    }
    return text;
  }
};

std::string gate(const std::string& name, int first, const std::string& function,
                 const std::string& of = "z") {
  return "  " + name + ".in = f32[2,8] slice(" + of + "), slice={[0:2], [" + std::to_string(first) +
         ":" + std::to_string(first + 8) + "]}\n  " + name + " = f32[2,8] " + function + "(" +
         name + ".in)\n";
}

TestLoop lstm_loop() {
  TestLoop loop;
  loop.step = gate("i", 0, "logistic") + gate("f", 8, "logistic") + gate("g", 16, "tanh") +
              gate("o", 24, "logistic") +
              R"(  kept = f32[2,8] multiply(f, m)
  added = f32[2,8] multiply(i, g)
  m.next = f32[2,8] add(kept, added)
  shown = f32[2,8] tanh(m.next)
  h.next = f32[2,8] multiply(o, shown)
)";
  return loop;
}

TestLoop gru_loop() {
  TestLoop loop;
  loop.gates = "24";
  loop.sum =
      R"(  xw = f32[2,$] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  hu = f32[2,$] dot(h, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bb = f32[2,$] broadcast(b), dimensions={1}
  z = f32[2,$] add(xw, bb)
)";
  loop.step =
      R"(  both = f32[2,$] add(z, hu)
)" + gate("u1", 0, "logistic", "both") +
      gate("r1", 8, "logistic", "both") +
      R"(  hn = f32[2,8] slice(hu), slice={[0:2], [16:24]}
  xn = f32[2,8] slice(z), slice={[0:2], [16:24]}
  reset = f32[2,8] multiply(r1, hn)
  sum = f32[2,8] add(xn, reset)
  new = f32[2,8] tanh(sum)
  f1 = f32[] constant(1)
  ones = f32[2,8] broadcast(f1), dimensions={}
  rest = f32[2,8] subtract(ones, u1)
  kept = f32[2,8] multiply(u1, h)
  added = f32[2,8] multiply(rest, new)
  h.next = f32[2,8] add(kept, added)
)";
  loop.memory = "m";
  return loop;
}

TestLoop rnn_loop(const std::string& function = "tanh") {
  TestLoop loop;
  loop.gates = "8";
  loop.step = "  h.next = f32[2,8] " + function + "(z)\n";
  loop.memory = "m";
  return loop;
}

struct Replaced {
  std::unique_ptr<xla::HloModule> module;
  std::vector<const xla::HloInstruction*> kernels = {};  // anywhere
  std::int64_t loops = 0;
  std::int64_t dots_in_loops = 0;

  kernels::RecurrentCall call() const { return call_of<kernels::RecurrentCall>(*kernels.at(0)); }
};

Replaced replaced(std::unique_ptr<xla::HloModule> module, const Choices& choices = {}) {
  Replaced made{std::move(module)};
  EXPECT_TRUE(testing::run_pass("hoist_step_products", *made.module));
  EXPECT_TRUE(testing::run_pass("replace_recurrent_cell", *made.module, 1));
  EXPECT_TRUE(remove_dead_code(*made.module));
  EXPECT_TRUE(testing::run_pass("replace_recurrent_layer", *made.module, 1, choices));
  EXPECT_TRUE(remove_dead_code(*made.module));
  for (const auto* computation : made.module->computations()) {
    for (const auto* one : computation->instructions()) {
      if (is_kernel_call(*one)) made.kernels.push_back(one);
      if (one->opcode() == xla::HloOpcode::kWhile) ++made.loops;
      if (one->opcode() == xla::HloOpcode::kDot && computation != made.module->entry_computation())
        ++made.dots_in_loops;
    }
  }
  return made;
}
Replaced replaced(const TestLoop& loop) { return replaced(testing::parse_hlo(loop.text())); }

std::vector<std::int64_t> sizes_of(const xla::HloInstruction& one) { return dimensions_of(one); }

TEST(RecurrentLayers, AnLstmIsOneCall) {
  const Replaced made = replaced(lstm_loop());
  ASSERT_THAT(made.kernels, SizeIs(1));
  EXPECT_EQ(made.loops, 0);
  EXPECT_EQ(kernel_name(*made.kernels[0]), "lstm_f32");
  const auto call = made.call();
  EXPECT_EQ(call.rows, 2);
  EXPECT_EQ(call.steps, 5);
  EXPECT_EQ(call.hidden, 8);
  EXPECT_EQ(call.features, 0);
  // The products of all steps, rows first as the input comes.
  EXPECT_EQ(call.x_start, 0);
  EXPECT_EQ(call.x_step, 32);
  EXPECT_EQ(call.x_row, 5 * 32);
  EXPECT_THAT(call.x_gate, ElementsAre(0, 8, 16, 24));
  EXPECT_EQ(call.keeps_all, 1);
  EXPECT_EQ(call.memory_out, -1);
  // So is the result, whose transpose is gone.
  EXPECT_EQ(call.out_row, 5 * 8);
  EXPECT_EQ(call.out_step, 8);
  EXPECT_EQ(call.out_start, 0);
  EXPECT_THAT(sizes_of(*made.kernels[0]->operand(2)), ElementsAre(1, 8, 4, 16));
  EXPECT_THAT(sizes_of(*made.kernels[0]->operand(3)), ElementsAre(1, 4, 16));
}

TEST(RecurrentLayers, OnlyTheLastStateIsKeptIfNothingElseIsRead) {
  TestLoop loop = lstm_loop();
  loop.result = "last";
  EXPECT_EQ(replaced(loop).call().keeps_all, 0);
  EXPECT_EQ(replaced(loop).call().memory_out, -1);
  loop.result = "memory";
  EXPECT_EQ(replaced(loop).call().memory_out, 2 * 8);
}

TEST(RecurrentLayers, AGoingBackReadsAndWritesBackwards) {
  TestLoop loop = lstm_loop();
  loop.place = "back";
  const auto call = replaced(loop).call();
  EXPECT_EQ(call.x_start, 4 * 32);
  EXPECT_EQ(call.x_step, -32);
  EXPECT_EQ(call.out_start, 4 * 8);
  EXPECT_EQ(call.out_step, -8);
}

TEST(RecurrentLayers, AGruIsOneCall) {
  const Replaced made = replaced(gru_loop());
  ASSERT_THAT(made.kernels, SizeIs(1));
  EXPECT_EQ(made.loops, 0);
  EXPECT_EQ(kernel_name(*made.kernels[0]), "gru_f32");
  EXPECT_EQ(made.call().steps, 5);
  EXPECT_THAT(sizes_of(*made.kernels[0]->operand(2)), ElementsAre(1, 8, 3, 16));
  EXPECT_THAT(sizes_of(*made.kernels[0]->operand(3)), ElementsAre(1, 4, 16));
}

TEST(RecurrentLayers, AnOnnxLayerIsACallForEachDirection) {
  std::string ones = "1";
  for (int i = 1; i < 24; ++i) ones += ", 1";
  const testing::OnnxFile file(
      testing::tensor_text("input", "x", {"batch", "8", "2"}) +
      testing::tensor_text("output", "y", {"batch", "8", "2", "2"}) +
      "initializer { name: 'w' data_type: 1 dims: [2, 6, 2] float_data: [" + ones + "] }" +
      "initializer { name: 'r' data_type: 1 dims: [2, 6, 2] float_data: [" + ones + "] }" +
      "node { op_type: 'Transpose' input: 'x' output: 'steps'"
      "  attribute { name: 'perm' type: INTS ints: [1, 0, 2] } }"
      "node { op_type: 'GRU' input: 'steps' input: 'w' input: 'r' output: 'all'"
      "  attribute { name: 'hidden_size' type: INT i: 2 }"
      "  attribute { name: 'direction' type: STRING s: 'bidirectional' }"
      "  attribute { name: 'linear_before_reset' type: INT i: 1 } }"
      "node { op_type: 'Transpose' input: 'all' output: 'y'"
      "  attribute { name: 'perm' type: INTS ints: [2, 0, 1, 3] } }");
  const auto source = file.load();
  ASSERT_TRUE(source) << source.error().text();
  const auto lowering = (*source)->lowering({});
  ASSERT_TRUE(lowering) << lowering.error().text();
  const auto lowered = (*lowering)->lower(2);
  ASSERT_TRUE(lowered) << lowered.error().text();
  auto module = make_module(lowered->computation.proto());
  ASSERT_TRUE(module) << module.error().text();
  ASSERT_TRUE(simplify(**module));
  const Replaced made = replaced(std::move(*module));
  ASSERT_THAT(made.kernels, SizeIs(2));
  EXPECT_EQ(made.loops, 0);
  for (const auto* kernel : made.kernels) EXPECT_EQ(kernel_name(*kernel), "gru_f32");
}

TEST(RecurrentLayers, ASimpleRnnIsOneCall) {
  const Replaced made = replaced(rnn_loop());
  ASSERT_THAT(made.kernels, SizeIs(1));
  EXPECT_EQ(made.loops, 0);
  EXPECT_EQ(kernel_name(*made.kernels[0]), "rnn_f32");
  EXPECT_EQ(made.call().relu, 0);
  EXPECT_THAT(sizes_of(*made.kernels[0]->operand(2)), ElementsAre(1, 8, 2, 16));
}

void replace_everywhere(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

// The loop with four rows: the kernel may multiply the input.
std::string with_four_rows(const TestLoop& loop) {
  std::string text = loop.text();
  for (const std::string before : {"[", "[5,", "[1,", "{1,", "[0:"}) {
    const std::string after = before == "[0:" ? "]" : ",";
    replace_everywhere(text, before + "2" + after, before + "4" + after);
  }
  return text;
}

// With four rows and a state of 40, so that its last block of weights is half. The weights are
// small: the gates shall not be all 0 or 1.
std::string with_half_block(TestLoop loop) {
  loop.gates = std::to_string(5 * std::stoi(loop.gates));
  std::string text = with_four_rows(loop);
  replace_everywhere(text, ",8]", ",40]");
  replace_everywhere(text, "[8,", "[40,");
  for (int gate = 3; gate >= 0; --gate) {
    const auto columns = [gate](int count) {
      return "[" + std::to_string(gate * count) + ":" + std::to_string((gate + 1) * count) + "]";
    };
    replace_everywhere(text, columns(8), columns(40));
  }
  for (const std::string name : {"w", "u"}) {
    const std::string number = name == "w" ? "1" : "2";
    const std::string shape = "f32[" + std::string(name == "w" ? "3," : "40,") + loop.gates + "]";
    replace_everywhere(text, "  " + name + " = " + shape + " parameter(" + number + ")\n",
                       "  large." + name + " = " + shape + " parameter(" + number + ")\n  small." +
                           name + " = f32[] constant(0.02)\n  factor." + name + " = " + shape +
                           " broadcast(small." + name + "), dimensions={}\n  " + name + " = " +
                           shape + " multiply(large." + name + ", factor." + name + ")\n");
  }
  return text;
}

TEST(RecurrentLayers, TheLastBlockOfWeightsMayBeHalf) {
  for (const TestLoop& loop : {lstm_loop(), gru_loop(), rnn_loop()}) {
    const std::string text = with_half_block(loop);
    const auto before = testing::result_with_kernels(*testing::parse_hlo(text));
    const Replaced made = replaced(testing::parse_hlo(text));
    ASSERT_THAT(made.kernels, SizeIs(1));
    EXPECT_EQ(made.call().features, 3);
    // Of 43 numbers: two blocks and a half, of an rnn one and a half of two panels.
    const std::int64_t gates = std::max<std::int64_t>(2, std::stoi(loop.gates) / 8);
    const std::int64_t panels = gates == 2 ? 3 : 5;
    EXPECT_THAT(sizes_of(*made.kernels[0]->operand(2)), ElementsAre(43 * gates * panels * 8));
    EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*made.module)),
              1e-5)
        << kernel_name(*made.kernels[0]);
  }
}

TEST(RecurrentLayers, ForSizeAllNumbersOfRowsReadOneLayout) {
  const std::string text = with_half_block(lstm_loop());
  const auto before = testing::result_with_kernels(*testing::parse_hlo(text));
  const Replaced made = replaced(testing::parse_hlo(text), {.optimize = Optimization::kSize});
  ASSERT_THAT(made.kernels, SizeIs(1));
  EXPECT_EQ(made.call().features, 0) << "as of a row alone";
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*made.module)), 1e-5);
}

// A row alone gets products of its inputs, and many rows are multiplied by the kernel.
TEST(RecurrentLayers, BothWaysToMultiplyTheInputGiveTheSameBits) {
  for (const TestLoop& loop : {lstm_loop(), gru_loop(), rnn_loop()}) {
    const auto result = [text = with_half_block(loop)](Optimization optimize, int features) {
      const Replaced made = replaced(testing::parse_hlo(text), {.optimize = optimize});
      EXPECT_EQ(made.call().features, features);
      if (features == 0) {
        EXPECT_TRUE(testing::run_pass("replace_dot", *made.module, 1));
      }
      return testing::result_with_kernels(*made.module);
    };
    EXPECT_EQ(result(Optimization::kSpeed, 3), result(Optimization::kSize, 0));
  }
}

TEST(RecurrentLayers, ProductsOfFewColumnsAreNotTheKernels) {
  EXPECT_EQ(replaced(testing::parse_hlo(with_four_rows(lstm_loop()))).call().features, 3);
  const Replaced made = replaced(testing::parse_hlo(with_four_rows(rnn_loop())));
  EXPECT_EQ(made.call().rows, 4);
  EXPECT_EQ(made.call().features, 0) << "of 8 columns";
}

TEST(RecurrentLayers, ProductsByWeightsOfFewerBitsAreNotTheKernels) {
  const Replaced made = replaced(testing::parse_hlo(with_half_block(lstm_loop())),
                                 {.weights_type = WeightsType::kBfloat16});
  EXPECT_EQ(made.call().rows, 4);
  EXPECT_EQ(made.call().features, 0);
}

// The input's products leave the loop; the rest stays what it is.
TEST(RecurrentLayers, OtherActivationsKeepTheirLoop) {
  const Replaced made = replaced(rnn_loop("logistic"));
  EXPECT_THAT(made.kernels, IsEmpty());
  EXPECT_EQ(made.loops, 1);
  EXPECT_EQ(made.dots_in_loops, 1);
}

// Rows whose sequence is over keep their state: the loop stays, with a call in it.
TEST(RecurrentLayers, AMaskedLoopCallsAStepInEachTurn) {
  TestLoop loop = lstm_loop();
  loop.step +=
      R"(  three = s32[] constant(3)
  is.on = pred[] compare(t, three), direction=LT
  on = pred[2,8] broadcast(is.on), dimensions={}
  h.kept = f32[2,8] select(on, h.next, h)
)";
  loop.handed_on = "h.kept";
  const Replaced made = replaced(loop);
  ASSERT_THAT(made.kernels, SizeIs(1));
  EXPECT_EQ(made.loops, 1);
  EXPECT_EQ(made.dots_in_loops, 0);
  EXPECT_EQ(made.call().steps, 1);
  EXPECT_EQ(made.call().memory_out, 2 * 8);
}

// A gate may read the memory of the turn before, not the one that the call itself makes.
TEST(RecurrentLayers, APeepholeFromTheNewMemoryStays) {
  const auto with_peephole = [](const std::string& of, const std::string& name) {
    TestLoop loop = lstm_loop();
    const std::string gate = "  " + name + " = f32[2,8] logistic(" + name + ".in)\n";
    const std::size_t at = loop.step.find(gate);
    loop.step.replace(at, gate.size(), "");
    const std::string peeping = "  looked = f32[2,8] multiply(" + of + ", " + of +
                                R"()
  seen = f32[2,8] add()" + name +
                                ".in, looked)\n  " + name + " = f32[2,8] logistic(seen)\n";
    loop.step.insert(of == "m" ? at : loop.step.find("  shown"), peeping);
    return replaced(loop);
  };
  const Replaced before = with_peephole("m", "f");
  EXPECT_THAT(before.kernels, SizeIs(1));
  const Replaced now = with_peephole("m.next", "o");
  EXPECT_THAT(now.kernels, IsEmpty());
  EXPECT_EQ(now.loops, 1);
}

// As TensorFlow's own LSTM cells multiply: the input and the state at once.
TEST(RecurrentLayers, AJoinedProductIsTakenApart) {
  TestLoop loop = lstm_loop();
  loop.sum =
      R"(  both = f32[2,11] concatenate(x, h), dimensions={1}
  wu = f32[11,$] concatenate(w, u), dimensions={0}
  p1 = f32[2,$] dot(both, wu), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bb = f32[2,$] broadcast(b), dimensions={1}
  z = f32[2,$] add(p1, bb)
)";
  const Replaced made = replaced(loop);
  ASSERT_THAT(made.kernels, SizeIs(1));
  EXPECT_EQ(made.loops, 0);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
