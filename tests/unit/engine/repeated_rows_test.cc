// SPDX-License-Identifier: Apache-2.0
// Products of rows that are repeated, as of pairs of neighbours, become products of the rows alone.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compiler/hlo/weight_values.h"
#include "tests/unit/engine/parse_hlo.h"
#include "tests/unit/engine/run_kernels.h"
#include "tests/unit/engine/run_pass.h"

namespace tfaot::toolkit::engine {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

constexpr std::int64_t kFirstEdgeWeight = 3;  // its parameter

// "10 rows of 12" for each product of inputs that is left. The module computes the same.
std::vector<std::string> products(const std::string& text, const Choices& choices = {}) {
  const auto module = testing::parse_hlo(text);
  const xla::Literal before = testing::result_with_kernels(*module);
  EXPECT_TRUE(testing::run_pass("multiply_before_repeating", *module, kFirstEdgeWeight, choices));
  EXPECT_LT(testing::relative_difference(before, testing::result_with_kernels(*module)), 1e-5)
      << module->ToString();
  const WeightValues values(*module, kFirstEdgeWeight);
  std::vector<std::string> found;
  for (const auto* one : module->entry_computation()->MakeInstructionPostOrder()) {
    if (values.is_known(one) ||
        (one->opcode() != xla::HloOpcode::kDot && one->opcode() != xla::HloOpcode::kConvolution)) {
      continue;
    }
    const xla::Shape& shape = one->operand(0)->shape();
    const std::int64_t depth = shape.dimensions().back();
    found.push_back(fmt::format("{} rows of {}", xla::ShapeUtil::ElementsIn(shape) / depth, depth));
  }
  return found;
}

// Two graphs of 5 nodes of 8 numbers, each with 4 neighbours; `edges` makes z of them for each.
std::string graphs(const std::string& edges, int depth, const std::string& after = "y") {
  return fmt::format(R"(
ENTRY e {{
  given = f32[2,5,8] parameter(0)
  x = f32[2,5,8] multiply(given, given)
  p = f32[2,5,4,1] parameter(1)
  edge = f32[2,5,4,3] parameter(2)
  w = f32[{0},6] parameter(3)
  s = f32[6] parameter(4)
  t = f32[6] parameter(5)
  table = f32[5,8] parameter(6)
  two = f32[] constant(2)
  twos = f32[2,5,4,1] broadcast(two), dimensions={{}}
  scaled = f32[2,5,4,1] multiply(p, twos)
  i = s32[2,5,4,1] convert(scaled)
  graph = s32[2,5,4,1] iota(), iota_dimension=0
  places = s32[2,5,4,2] concatenate(graph, i), dimensions={{3}}
  own = f32[2,5,4,8] broadcast(x), dimensions={{0,1,3}}
  near = f32[2,5,4,8] gather(x, places), offset_dims={{3}}, collapsed_slice_dims={{0,1}}, start_index_map={{0,1}}, index_vector_dim=3, slice_sizes={{1,1,8}}
  ss = f32[2,5,4,6] broadcast(s), dimensions={{3}}
  ts = f32[2,5,4,6] broadcast(t), dimensions={{3}}
  {1}
  y = f32[2,5,4,6] dot(z, w), lhs_contracting_dims={{3}}, rhs_contracting_dims={{0}}
  {2}
}})",
                     depth, edges, after == "y" ? "ROOT r = f32[2,5,4,6] negate(y)" : after);
}

TEST(RepeatedRows, AreMultipliedOnce) {
  EXPECT_THAT(products(graphs("z = f32[2,5,4,16] concatenate(own, near), dimensions={3}", 16)),
              ElementsAre("10 rows of 8", "10 rows of 8"));
  EXPECT_THAT(products(graphs(R"(d = f32[2,5,4,8] subtract(near, own)
  z = f32[2,5,4,16] concatenate(own, d), dimensions={3})",
                              16)),
              ElementsAre("10 rows of 8", "10 rows of 8"));
  EXPECT_THAT(products(graphs("z = f32[2,5,4,8] add(near, own)", 8)),
              ElementsAre("40 rows of 8"));  // two sums would take as long
  EXPECT_THAT(products(graphs("z = f32[2,5,4,8] copy(own)", 8)), ElementsAre("40 rows of 8"));
  EXPECT_THAT(products(graphs("z = f32[2,5,4,8] reshape(own)", 8)), ElementsAre("10 rows of 8"));
}

TEST(RepeatedRows, LeaveOtherColumnsInOneProduct) {
  EXPECT_THAT(
      products(graphs("z = f32[2,5,4,22] concatenate(edge, own, near, edge), dimensions={3}", 22)),
      UnorderedElementsAre("10 rows of 8", "10 rows of 8", "40 rows of 6"));
}

TEST(RepeatedRows, TakeScalesAndShifts) {
  const std::string text = graphs("z = f32[2,5,4,16] concatenate(own, near), dimensions={3}", 16,
                                  R"(a = f32[2,5,4,6] subtract(y, ts)
  b = f32[2,5,4,6] multiply(ss, a)
  c = f32[2,5,4,6] add(b, ts)
  ROOT r = f32[2,5,4,6] negate(c))");
  EXPECT_THAT(products(text), ElementsAre("10 rows of 8", "10 rows of 8"));
  const auto module = testing::parse_hlo(text);
  EXPECT_TRUE(testing::run_pass("multiply_before_repeating", *module, kFirstEdgeWeight));
  const auto* root = module->entry_computation()->root_instruction();
  ASSERT_EQ(root->operand(0)->opcode(), xla::HloOpcode::kAdd) << module->ToString();
  EXPECT_EQ(root->operand(0)->operand(0)->opcode(), xla::HloOpcode::kBroadcast);
  EXPECT_EQ(root->operand(0)->operand(1)->opcode(), xla::HloOpcode::kGather);
}

// As a batch of one has it: dimensions of one element come and go.
TEST(RepeatedRows, AreFoundBehindReshapes) {
  EXPECT_THAT(products(R"(
ENTRY e {
  given = f32[1,5,16] parameter(0)
  x = f32[1,5,16] multiply(given, given)
  p = f32[30] parameter(1)
  unused = f32[1] parameter(2)
  w = f32[3,32] parameter(3)
  two = f32[] constant(2)
  twos = f32[30] broadcast(two), dimensions={}
  scaled = f32[30] multiply(p, twos)
  i = s32[30] convert(scaled)
  flat = f32[5,16] reshape(x)
  from = f32[1,30,16] gather(x, i), offset_dims={0,2}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={1,1,16}
  own = f32[5,6,16] broadcast(flat), dimensions={0,2}
  to = f32[1,30,16] reshape(own)
  d = f32[1,30,16] subtract(from, to)
  both = f32[1,30,32] concatenate(to, d), dimensions={2}
  rows = f32[30,32] reshape(both)
  ROOT y = f32[30,3] dot(rows, w), lhs_contracting_dims={1}, rhs_contracting_dims={1}
})"),
              ElementsAre("5 rows of 16", "5 rows of 16"));
}

TEST(RepeatedRows, OfPointwiseConvolutions) {
  const auto text = [](int stride) {
    return fmt::format(R"(
ENTRY e {{
  x = f32[2,6,12] parameter(0)
  y = f32[2,4,12] parameter(1)
  unused = f32[1] parameter(2)
  w = f32[1,1,24,7] parameter(3)
  a = f32[2,6,4,12] broadcast(x), dimensions={{0,1,3}}
  b = f32[2,6,4,12] broadcast(y), dimensions={{0,2,3}}
  z = f32[2,6,4,24] concatenate(a, b), dimensions={{3}}
  ROOT r = f32[2,{0},{1},7] convolution(z, w), window={{size=1x1 stride={2}x{2}}}, dim_labels=b01f_01io->b01f
}})",
                       6 / stride, 4 / stride, stride);
  };
  EXPECT_THAT(products(text(1)), UnorderedElementsAre("12 rows of 12", "8 rows of 12"));
  EXPECT_THAT(products(text(2)), ElementsAre("48 rows of 24"));
}

// Of inputs as they are, differences are exact, however large a number they have in common.
TEST(RepeatedRows, LeaveDifferencesOfInputs) {
  const std::string computed = "x = f32[2,5,8] multiply(given, given)";
  std::string text = graphs(
      R"(d = f32[2,5,4,8] subtract(near, own)
  z = f32[2,5,4,16] concatenate(own, d), dimensions={3})",
      16);
  for (const char* moved : {"x = f32[2,5,8] negate(given)",
                            R"(zero = f32[] constant(0)
  zeros = f32[2,5,8] broadcast(zero), dimensions={}
  x = f32[2,5,8] maximum(given, zeros))"}) {
    std::string given = text;
    given.replace(given.find(computed), computed.size(), moved);
    EXPECT_THAT(products(given), UnorderedElementsAre("10 rows of 8", "40 rows of 8")) << moved;
  }
}

// Its digits would be lost: nothing else of the product is as large.
TEST(RepeatedRows, LeaveADifferenceAlone) {
  EXPECT_THAT(products(graphs(R"(d = f32[2,5,4,8] subtract(near, own)
  z = f32[2,5,4,14] concatenate(edge, d, edge), dimensions={3})",
                              14)),
              ElementsAre("40 rows of 14"));
}

TEST(RepeatedRows, LeaveWhatIsKnownAhead) {
  EXPECT_THAT(products(graphs(R"(q = s32[2,5,4] reshape(i)
  found = f32[2,5,4,8] gather(table, q), offset_dims={3}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=3, slice_sizes={1,8}
  z = f32[2,5,4,16] concatenate(found, found), dimensions={3})",
                              16)),
              ElementsAre("40 rows of 16"));
}

// So a batch of one row has the products that others have.
TEST(RepeatedRows, AreFoundBehindTransposesThatMoveNothing) {
  EXPECT_THAT(products(R"(
ENTRY e {
  given = f32[5,8] parameter(0)
  x = f32[5,8] multiply(given, given)
  p = f32[20] parameter(1)
  unused = f32[1] parameter(2)
  w = f32[16,3] parameter(3)
  i = s32[20] convert(p)
  found = f32[20,8] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}
  near = f32[5,4,1,8] reshape(found)
  own = f32[5,4,1,8] broadcast(x), dimensions={0,3}
  both = f32[5,4,1,16] concatenate(own, near), dimensions={3}
  z = f32[1,5,4,16] transpose(both), dimensions={2,0,1,3}
  ROOT y = f32[1,5,4,3] dot(z, w), lhs_contracting_dims={3}, rhs_contracting_dims={0}
})"),
              ElementsAre("5 rows of 8", "5 rows of 8"));
}

TEST(RepeatedRows, LeaveGathersOfColumns) {
  EXPECT_THAT(products(R"(
ENTRY e {
  x = f32[5,16] parameter(0)
  p = f32[16] parameter(1)
  unused = f32[1] parameter(2)
  w = f32[16,3] parameter(3)
  i = s32[16] convert(p)
  chosen = f32[5,16] gather(x, i), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={5,1}
  z = f32[5,9,16] broadcast(chosen), dimensions={0,2}
  ROOT y = f32[5,9,3] dot(z, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}
})"),
              ElementsAre("5 rows of 16"));
}

TEST(RepeatedRows, StayWhereWeightsMayNotBeJoined) {
  const std::string text = graphs("z = f32[2,5,4,16] concatenate(own, near), dimensions={3}", 16);
  EXPECT_THAT(products(text, {WeightsType::kFloat32, false}), ElementsAre("40 rows of 16"));
  EXPECT_THAT(products(text, {WeightsType::kInt8, true}), ElementsAre("40 rows of 16"));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
