// SPDX-License-Identifier: Apache-2.0
// The table of passes, the whole optimizer, and one pass by hand.
#include "compiler/code/optimize.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "compiler/kernels/kernel_call.h"
#include "inspect/read_hlo.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/engine/onnx_models.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_pass.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::OnnxFile;
using testing::parse_hlo;
using ::testing::StartsWith;
using testing::tensor_text;
using ::testing::UnorderedElementsAre;
using toolkit::testing::TemporaryFolder;

TEST(Passes, AreNamedOnceAndSayWhy) {
  std::set<std::string_view> names;
  for (const Pass& pass : passes()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_EQ(find_pass(pass.name), &pass);
    EXPECT_THAT(std::string(pass.why), AllOf(EndsWith("."), Not(HasSubstr(". ")))) << pass.name;
  }
  EXPECT_EQ(find_pass("no_pass"), nullptr);
}

TEST(Facts, AddAndTakeAway) {
  constexpr Facts facts = {Fact::kSimplified, Fact::kFolded};
  static_assert(facts.contain({}) && facts.contain({Fact::kFolded}));
  static_assert(!facts.contain({Fact::kFolded, Fact::kLiveRows}));
  static_assert(facts.with({Fact::kLiveRows}).contain({Fact::kFolded, Fact::kLiveRows}));
  static_assert(!facts.without({Fact::kFolded}).contain({Fact::kFolded}));
}

constexpr const char* kDenseLayer = R"(ENTRY main {
  x = f32[4,32] parameter(0)
  w = f32[32,48] parameter(1)
  unused = f32[4,32] exponential(x)
  ROOT y = f32[4,48] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";

std::vector<std::string> kernels_in(const xla::HloModule& module) {
  std::vector<std::string> kernels;
  for (const auto* one : module.entry_computation()->instructions()) {
    if (is_kernel_call(*one)) kernels.emplace_back(kernel_name(*one));
  }
  return kernels;
}

TEST(Passes, RunUpToOneByItsName) {
  const Choices choices;
  for (const bool with_products : {false, true}) {
    const auto module = parse_hlo(kDenseLayer);
    PassContext state{*module, 1, choices};
    std::vector<std::string_view> ran;
    const std::string_view last = with_products ? "replace_dot" : "replace_normalisation";
    ASSERT_TRUE(run_passes(state, last, [&](const Pass& pass) -> Status {
      ran.push_back(pass.name);
      return {};
    }));
    EXPECT_EQ(ran.front(), passes().front().name);
    EXPECT_EQ(ran.back(), last);
    EXPECT_EQ(kernels_in(*module),
              with_products ? std::vector<std::string>{"matmul_f32"} : std::vector<std::string>());
  }
}

TEST(Passes, WithoutWeightsNothingIsFolded) {
  const auto module = parse_hlo(kDenseLayer);
  const Choices choices;
  PassContext state{*module, 1, choices};
  const Status done = run_passes(state);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().text(), "there are no weights to fold");
}

// relu(x w) of 4 rows
TEST(Optimize, AModelBecomesKernelCallsAndWeights) {
  std::string numbers;
  for (int i = 0; i < 32 * 48; ++i) numbers += " float_data: 0.5";
  const OnnxFile file(tensor_text("input", "x", {"N", "32"}) +
                      tensor_text("output", "y", {"N", "48"}) +
                      "node { op_type: 'MatMul' input: 'x' input: 'w' output: 'p' }"
                      "node { op_type: 'Relu' input: 'p' output: 'y' }"
                      "initializer { name: 'w' dims: 32 dims: 48 data_type: 1" +
                      numbers + " }");
  const auto source = file.load().value();
  const auto lowering = source->lowering({}).value();
  RealFileSystem files;
  const TemporaryFolder folder;
  auto store = WeightStore::create(files, folder.path(), lowering->weights()).value();
  const auto lowered = lowering->lower(4).value();
  std::vector<std::string> stages;
  StepViewer viewer;
  viewer.show = [&](const std::string& step, const xla::HloModule&) -> Status {
    stages.push_back(step);
    return {};
  };
  const auto optimized = optimize(lowered, store, {}, Traces::kRemoved, viewer);
  ASSERT_TRUE(optimized) << optimized.error().text();
  EXPECT_THAT(stages, ElementsAre("lowered", "simplified", "kernel_calls", "hoisted", "folded"));
  EXPECT_THAT(hlo_text(optimized->computation).value(), HasSubstr("tfaot_matmul_f32"));
  ASSERT_EQ(optimized->weights.size(), 1U) << "packed";
  EXPECT_GE(optimized->weights.front(), lowering->weights().size()) << "derived by folding";
  EXPECT_TRUE(optimized->has_live_rows);

  const auto named = optimize(lowered, store, {}, Traces::kNames, viewer);
  std::vector<std::string> names;
  for (const auto& computation : named->computation.proto().computations()) {
    for (const auto& one : computation.instructions()) {
      if (one.opcode() == "parameter") names.push_back(one.metadata().op_name());
    }
  }
  EXPECT_THAT(names, ElementsAre("x", HasSubstr("w"), "live rows"));

  stages.clear();
  viewer.passes = true;
  ASSERT_TRUE(optimize(lowered, store, {}, Traces::kRemoved, viewer));
  EXPECT_THAT(stages,
              ElementsAre("lowered", "simplify", "simplified", "replace_dot", "kernel_calls",
                          "hoisted", "folded", "leave_out_padding", "align_temporaries"));
}

constexpr const char* kSums = R"(add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b)
}
)";

TEST(Remarks, SayWhatNearlyMatched) {
  const auto rms = parse_hlo(std::string(kSums) + R"(ENTRY main {
  x = f32[4,32] parameter(0)
  zero = f32[] constant(0)
  share = f32[] constant(0.03125)
  square = f32[4,32] multiply(x, x)
  sum = f32[4] reduce(square, zero), dimensions={1}, to_apply=add
  shares = f32[4] broadcast(share), dimensions={}
  mean = f32[4] multiply(sum, shares)
  root = f32[4] rsqrt(mean)
  roots = f32[4,32] broadcast(root), dimensions={0}
  ROOT y = f32[4,32] multiply(x, roots)
})");
  EXPECT_THAT(testing::remarks_of("replace_normalisation", *rms),
              ElementsAre("root: no layer_norm: the mean under the root is not that of "
                          "(x - mean)^2 over the dimensions of x's mean"));
  const auto whole = parse_hlo(R"(ENTRY main {
  x = s32[4,3] parameter(0)
  w = s32[3,5] parameter(1)
  ROOT y = s32[4,5] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})");
  EXPECT_THAT(testing::remarks_of("replace_dot", *whole),
              ElementsAre("y: no matmul: its operands are not all float32, or all float64"));
  const auto convolution = parse_hlo(R"(ENTRY main {
  x = s32[2,5,4,3] parameter(0)
  w = s32[2,2,3,7] parameter(1)
  ROOT y = s32[2,4,3,7] convolution(x, w), window={size=2x2}, dim_labels=b01f_01io->b01f
})");
  EXPECT_THAT(testing::remarks_of("replace_convolution", *convolution),
              ElementsAre("y: no convolution: its operands are not all float32, or all float64, or "
                          "it has groups of images or too many dimensions"));
  const auto pool = parse_hlo(std::string(kSums) + R"(ENTRY main {
  x = f32[2,20,3] parameter(0)
  zero = f32[] constant(0)
  ROOT y = f32[2,20,3] reduce-window(x, zero), window={size=1x20x1 pad=0_0x19_0x0_0}, to_apply=add
})");
  EXPECT_THAT(testing::remarks_of("replace_pool", *pool),
              ElementsAre("y: no sum_pool: its image is dilated, or each window goes back to the "
                          "start"));
  const auto gelu = parse_hlo(R"(ENTRY main {
  x = f32[4,8] parameter(0)
  root = f32[] constant(0.70710678)
  roots = f32[4,8] broadcast(root), dimensions={}
  half = f32[] constant(0.5)
  halves = f32[4,8] broadcast(half), dimensions={}
  one = f32[] constant(1)
  ones = f32[4,8] broadcast(one), dimensions={}
  inner = f32[4,8] multiply(x, roots)
  erf = f32[4,8] erf(inner)
  sum = f32[4,8] add(erf, ones)
  h = f32[4,8] multiply(x, halves)
  ROOT y = f32[4,8] multiply(h, sum)
})");
  EXPECT_THAT(testing::remarks_of("replace_gelu", *gelu),
              ElementsAre("y: no gelu: it is not between kernels"));
}

// The instructions that a pass replaces in a copy of the module.
std::set<std::string> rewritten_by(const Pass& pass, const PassContext& at) {
  const auto copy = at.module.Clone("");
  PassContext context{*copy, at.inputs, at.choices};
  EXPECT_TRUE(pass.run(context)) << pass.name;
  return {context.rewritten.begin(), context.rewritten.end()};
}

// Adds the passes that replace an instruction, and the pairs that would replace the same one at one
// place of the pipeline.
void add_overlaps(const LoweredModel& lowered, std::set<std::string>& active,
                  std::set<std::string>& overlaps) {
  const auto module = make_module(lowered.computation.proto()).value();
  const Choices choices;
  PassContext context{*module, std::ssize(lowered.inputs), choices};
  Facts holds = kLoweredFacts;
  for (const Pass& pass : passes()) {
    if (pass.name == "fold_weights") return;
    const auto own = pass.is_of_one ? rewritten_by(pass, context) : std::set<std::string>();
    if (!own.empty()) active.emplace(pass.name);
    for (const Pass* later = &pass + 1; !own.empty() && later != &*passes().end(); ++later) {
      if (!later->is_of_one || !holds.contain(later->needs)) continue;
      const auto others = rewritten_by(*later, context);
      const bool meets =
          std::ranges::any_of(own, [&](const std::string& name) { return others.contains(name); });
      if (meets) overlaps.insert(std::string(pass.name) + ", " + std::string(later->name));
    }
    ASSERT_TRUE(pass.run(context)) << pass.name;
    holds = holds.without(pass.ends).with(pass.gives);
  }
}

// Which of two comes first would decide. All nets of the benchmark that compile in a moment.
TEST(Passes, NoTwoCallsFitOneInstruction) {
  std::set<std::string> active, overlaps;
  for (const char* const net :
       {"attention", "batch_norm_5x128", "cnn", "deepjet", "dense_3x32", "embedding", "flow",
        "graph", "gru", "lstm", "mixer", "particlenet", "separable", "transformer"}) {
    JobModel job;
    job.format = ModelFormat::kOnnx;
    job.source = std::string(TFAOT_NETS) + "/" + net + ".onnx";
    const auto source = load_onnx_source(job).value();
    ASSERT_TRUE(source->prepare()) << net;
    const auto lowering = source->lowering({}).value();
    add_overlaps(lowering->lower(4).value(), active, overlaps);
  }
  // These turn a product into other products, which are left to the later pass.
  EXPECT_THAT(overlaps, UnorderedElementsAre("move_scale_into_weight, replace_dot",
                                             "multiply_before_repeating, replace_convolution",
                                             "multiply_before_repeating, replace_dot"));
  EXPECT_GE(active.size(), 15U) << ::testing::PrintToString(active);
}

class RunPassTest : public ::testing::Test {
 protected:
  Result<std::string> run(const PassQuestion& question) const {
    std::ofstream(file()) << "HloModule m\n" << kDenseLayer;
    const RealFileSystem files;
    return run_pass(files, question);
  }
  std::string file() const { return (folder_.path() / "x.hlo").string(); }

  TemporaryFolder folder_;
};

TEST_F(RunPassTest, PrintsTheModule) {
  const auto text = run({"replace_dot", file(), "1"});
  ASSERT_TRUE(text) << text.error().text();
  EXPECT_THAT(*text, AllOf(StartsWith("HloModule m"), HasSubstr("tfaot_matmul_f32")));
}

TEST_F(RunPassTest, SaysWhichPassesThereAre) {
  const auto text = run({"rewrite", file()});
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().text(),
              AllOf(StartsWith("there is no pass 'rewrite'\n"),
                    HasSubstr("settle_means: Means that are no normalisation's")));
}

TEST_F(RunPassTest, RefusesAWrongNumberOfInputs) {
  for (const char* inputs : {"3", "-1", "1x"}) {
    const auto text = run({"simplify", file(), inputs});
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().text(), "'" + std::string(inputs) +
                                       "' is not a number of inputs: the module has 2 parameters");
  }
}

}  // namespace
}  // namespace tfaot::toolkit::engine
