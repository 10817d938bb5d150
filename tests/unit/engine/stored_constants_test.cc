// SPDX-License-Identifier: Apache-2.0
#include "compiler/code/stored_constants.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/temporary_folder.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tfaot/base/real_file_system.h"

namespace tfaot::toolkit::engine {
namespace {

using testing::parse_hlo;

class StoredConstantsTest : public ::testing::Test {
 protected:
  // A model of one input and one weight. `text`: its entry computation.
  static OptimizedModel model(const std::string& text) {
    OptimizedModel made;
    made.computation = canonical(xla::XlaComputation(parse_hlo(text)->ToProto())).value();
    made.shape = xla::ProgramShape(made.computation.proto().host_program_shape());
    made.inputs.resize(1);
    made.weights = {7};
    return made;
  }
  OptimizedModel stored(const std::string& text) {
    auto made = with_stored_constants(model(text), store_);
    EXPECT_TRUE(made) << made.error().text();
    return made ? std::move(*made) : OptimizedModel();
  }
  static std::string text_of(const OptimizedModel& model) {
    return hlo_text(model.computation).value();
  }
  // The first `count` whole numbers, without the braces.
  static std::string numbers(int count) {
    std::vector<int> all(static_cast<std::size_t>(count));
    std::iota(all.begin(), all.end(), 0);
    return fmt::format("{}", fmt::join(all, ", "));
  }

  RealFileSystem files_;
  TemporaryFolder scratch_;
  WeightStore store_ = WeightStore::create(files_, scratch_.path(), {}).value();
};

// Two equal ones and another one: two weights, before the parameters that are none.
TEST_F(StoredConstantsTest, AreWeightsAfterTheOthers) {
  const std::string many = numbers(512), others = "9, " + numbers(511);
  const OptimizedModel made = stored(
      "ENTRY e { x = s64[512] parameter(0) w = f32[3] parameter(1) live = s32[] parameter(2)\n"
      "  tasks = u64[5] parameter(3) a = s64[512] constant({" +
      many +
      "})\n"
      "  b = s64[512] constant({" +
      many + "}) c = s64[512] constant({" + others +
      "})\n"
      "  s = s64[512] add(x, a) t = s64[512] multiply(s, b) u = s64[512] subtract(t, c)\n"
      "  ROOT r = (s64[512], f32[3], s32[], u64[5]) tuple(u, w, live, tasks) }");
  ASSERT_EQ(made.weights.size(), 3U);
  std::vector<std::string> shapes;
  for (const auto& shape : made.shape.parameters()) shapes.push_back(shape.ToString());
  EXPECT_EQ(shapes, (std::vector<std::string>{"s64[512]", "f32[3]", "s64[512]", "s64[512]", "s32[]",
                                              "u64[5]"}));
  EXPECT_EQ(text_of(made).find("constant("), std::string::npos) << text_of(made);
  // Each result is still what it was.
  const auto module = make_module(made.computation.proto()).value();
  const auto* const root = module->entry_computation()->root_instruction();
  EXPECT_EQ(root->operand(1)->parameter_number(), 1);
  EXPECT_EQ(root->operand(2)->parameter_number(), 4);
  EXPECT_EQ(root->operand(3)->parameter_number(), 5);
  const auto* const product = root->operand(0)->operand(0);
  const auto* const sum = product->operand(0);
  EXPECT_EQ(sum->operand(0)->parameter_number(), 0);
  EXPECT_EQ(sum->operand(1), product->operand(1));
  const auto held_by = [&](const HloInstruction* parameter) {
    const auto place = static_cast<std::size_t>(parameter->parameter_number() - 1);
    return store_.bytes(made.weights[place]).value();
  };
  const std::string first = held_by(sum->operand(1)),
                    second = held_by(root->operand(0)->operand(1));
  ASSERT_EQ(first.size(), 4096U);
  EXPECT_EQ(first[8], 1);
  ASSERT_EQ(second.size(), 4096U);
  EXPECT_EQ(second[0], 9);
}

TEST_F(StoredConstantsTest, SmallOnesStay) {
  const std::string text =
      "ENTRY e { x = s64[511] parameter(0) w = f32[3] parameter(1)\n  a = s64[511] constant({" +
      numbers(511) + "}) s = s64[511] add(x, a) ROOT r = (s64[511], f32[3]) tuple(s, w) }";
  const OptimizedModel made = stored(text);
  EXPECT_EQ(made.weights, std::vector<std::size_t>{7});
  EXPECT_EQ(hlo_sha256(made.computation), hlo_sha256(model(text).computation));
}

// The same constant in the code of another batch size is the same weight.
TEST_F(StoredConstantsTest, AreSharedByBatchSizes) {
  const auto text = [](int rows) {
    const std::string shape = fmt::format("s64[{},512]", rows);
    return fmt::format(
        "ENTRY e {{ x = {0} parameter(0) w = f32[3] parameter(1) a = s64[512] constant({{{1}}})\n"
        "  b = {0} broadcast(a), dimensions={{1}} s = {0} add(x, b) ROOT r = ({0}) tuple(s) }}",
        shape, numbers(512));
  };
  const auto first = stored(text(1)).weights;
  EXPECT_EQ(first.size(), 2U);
  EXPECT_EQ(stored(text(4)).weights, first);
}

}  // namespace
}  // namespace tfaot::toolkit::engine
