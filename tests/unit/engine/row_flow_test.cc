// SPDX-License-Identifier: Apache-2.0
// What is proved about rows, and which operation is named if rows meet. Batches have 5 rows here.
#include "compiler/rows/row_flow.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/engine/parse_hlo.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr const char* kComputations =
    R"(sum {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}
less {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = pred[] compare(p, q), direction=LT
}
)";

// "alone", or the operation and what it does. Parameters: x, n (places) and w, a weight.
std::string follow(const std::string& body, const std::string& computations = "") {
  const auto module = testing::parse_hlo(kComputations + computations +
                                         R"(ENTRY e {
  x = f32[5,4,3] parameter(0)
  n = s32[5,2] parameter(1)
  w = f32[3,6] parameter(2)
  z = f32[] constant(0)
)" + body + "}");
  const RowSizes sizes;
  RowStudy study(5, sizes);
  const auto causes = follow_rows(*module, 2, study);
  if (causes.size() != 1) return "no output";
  if (causes[0] == nullptr) return "alone";
  return std::string(causes[0]->mixes ? "" : "perhaps ") +
         std::string(xla::HloOpcodeString(causes[0]->at->opcode())) + ": " + causes[0]->why;
}

void expect_alone(const std::string& body, const std::string& computations = "") {
  EXPECT_EQ(follow(body, computations), "alone") << body;
}

TEST(RowFlow, ElementByElement) {
  expect_alone("ROOT y = f32[5,4,3] tanh(x)");
  expect_alone("ROOT y = f32[5,4,3] broadcast(z), dimensions={}");
  expect_alone(
      R"(t = f32[4,3] constant({{1,2,3},{4,5,6},{7,8,9},{1,2,3}})
b = f32[5,4,3] broadcast(t), dimensions={1,2}
 ROOT y = f32[5,4,3] multiply(x, b))");
  EXPECT_EQ(follow(R"(i = f32[5,4,3] iota(), iota_dimension=0
 ROOT y = f32[5,4,3] add(x, i))"),
            "add: depends on a row's position in the batch");
  expect_alone(R"(i = f32[5,4,3] iota(), iota_dimension=1
 ROOT y = f32[5,4,3] add(x, i))");
  EXPECT_EQ(follow("ROOT y = f32[5] iota(), iota_dimension=0"),
            "iota: depends on a row's position in the batch");
  EXPECT_EQ(follow(R"(t = f32[5] constant({1,2,3,4,5})
 b = f32[5,4,3] broadcast(t), dimensions={0}
 ROOT y = f32[5,4,3] add(x, b))"),
            "add: depends on a row's position in the batch");
}

TEST(RowFlow, CalledComputations) {
  const std::string called = R"(called { y = f32[5,4,3] parameter(0)
 z = f32[] constant(0)
 s = f32[4,3] reduce(y, z), dimensions={0}, to_apply=sum
 t = f32[5,4,3] tanh(y)
 ROOT r = (f32[5,4,3], f32[4,3]) tuple(t, s) }
)";
  const std::string call = "c = (f32[5,4,3], f32[4,3]) call(x), to_apply=called\n";
  expect_alone(call + "ROOT y = f32[5,4,3] get-tuple-element(c), index=0", called);
  EXPECT_EQ(follow(call + R"(s = f32[4,3] get-tuple-element(c), index=1
 ROOT y = f32[5,4,3] broadcast(s), dimensions={1,2})",
                   called),
            "reduce: combines the rows of the batch into one");
}

TEST(RowFlow, Weights) {
  EXPECT_EQ(follow(R"(r = f32[18] reshape(w)
 s = f32[5] slice(r), slice={[0:5]}
b = f32[5,4,3] broadcast(s), dimensions={0}
 ROOT y = f32[5,4,3] add(x, b))"),
            "add: depends on a row's position in the batch");
}

TEST(RowFlow, Shapes) {
  expect_alone(R"(r = f32[20,3] reshape(x)
 ROOT y = f32[5,12] reshape(r))");
  expect_alone(
      R"(t = f32[4,3,5] transpose(x), dimensions={1,2,0}
 r = f32[2,6,5] reshape(t)
u = f32[60] reshape(r)
 v = f32[12,5] reshape(u)
ROOT y = f32[5,12] transpose(v), dimensions={1,0})");
  EXPECT_EQ(follow(R"(r = f32[12,5] reshape(x)
 ROOT y = f32[5,12] transpose(r), dimensions={1,0})"),
            "perhaps reshape: splits the batch, but not by rows");
  EXPECT_EQ(follow(R"(t = f32[4,5,3] transpose(x), dimensions={1,0,2}
ROOT y = f32[5,4,3] reshape(t))"),
            "perhaps reshape: splits the batch, but not by rows");
  EXPECT_EQ(follow("ROOT y = f32[4,5,3] transpose(x), dimensions={1,0,2}"),
            "transpose: moves the rows to other positions");
}

TEST(RowFlow, Parts) {
  expect_alone("ROOT y = f32[5,2,3] slice(x), slice={[0:5], [1:4:2], [0:3]}");
  EXPECT_EQ(follow("ROOT y = f32[2,4,3] slice(x), slice={[0:2], [0:4], [0:3]}"),
            "slice: takes some rows of the batch by their position");
  EXPECT_EQ(follow(R"(s = f32[1,4,3] slice(x), slice={[0:1], [0:4], [0:3]}
r = f32[4,3] reshape(s)
 b = f32[5,4,3] broadcast(r), dimensions={1,2}
ROOT y = f32[5,4,3] subtract(x, b))"),
            "slice: takes some rows of the batch by their position");
  expect_alone(R"(r = f32[20,3] reshape(x)
 ROOT y = f32[5,3] slice(r), slice={[2:20:4], [0:3]})");
  expect_alone("ROOT y = f32[5,4,5] pad(x, z), padding=0_0x0_0x1_1");
  EXPECT_EQ(follow("ROOT y = f32[6,4,3] pad(x, z), padding=0_1x0_0x0_0"),
            "perhaps pad: adds other rows to those of the batch");
  expect_alone("ROOT y = f32[5,4,3] reverse(x), dimensions={1,2}");
  EXPECT_EQ(follow("ROOT y = f32[5,4,3] reverse(x), dimensions={0}"),
            "reverse: reverses the rows of the batch");
}

// Two tensors are joined, go through one net, and are split again.
TEST(RowFlow, TensorsBehindEachOther) {
  expect_alone(
      R"(t = f32[5,4,3] negate(x)
 c = f32[10,4,3] concatenate(x, t), dimensions={0}
h = f32[10,4,3] tanh(c)
ROOT y = f32[5,4,3] slice(h), slice={[5:10], [0:4], [0:3]})");
  expect_alone(
      R"(b = f32[5,4,3] broadcast(z), dimensions={}
ROOT c = f32[5,8,3] concatenate(x, b), dimensions={1})");
  EXPECT_EQ(follow(R"(a = f32[4,4,3] slice(x), slice={[1:5], [0:4], [0:3]}
b = f32[1,4,3] slice(x), slice={[0:1], [0:4], [0:3]}
ROOT y = f32[5,4,3] concatenate(a, b), dimensions={0})"),
            "slice: takes some rows of the batch by their position");
}

TEST(RowFlow, Sums) {
  expect_alone("ROOT y = f32[5] reduce(x, z), dimensions={1,2}, to_apply=sum");
  EXPECT_EQ(follow(R"(r = f32[4,3] reduce(x, z), dimensions={0}, to_apply=sum
ROOT y = f32[5,4,3] broadcast(r), dimensions={1,2})"),
            "reduce: combines the rows of the batch into one");
  EXPECT_EQ(follow(R"(t = f32[20,3] reshape(x)
r = f32[3] reduce(t, z), dimensions={0}, to_apply=sum
ROOT y = f32[5,3] broadcast(r), dimensions={1})"),
            "reduce: combines the rows of the batch into one");
}

TEST(RowFlow, Windows) {
  expect_alone(
      "ROOT y = f32[5,4,3] reduce-window(x, z), window={size=1x4x1 pad=0_0x3_0x0_0}, "
      "to_apply=sum");
  EXPECT_EQ(follow("ROOT y = f32[5,4,3] reduce-window(x, z), "
                   "window={size=5x1x1 pad=4_0x0_0x0_0}, to_apply=sum"),
            "reduce-window: moves a window over the rows of the batch");
}

TEST(RowFlow, Orders) {
  expect_alone("ROOT y = f32[5,4,3] sort(x), dimensions={1}, to_apply=less");
  EXPECT_EQ(follow("ROOT y = f32[5,4,3] sort(x), dimensions={0}, to_apply=less"),
            "sort: sorts the rows of the batch");
  expect_alone(
      R"(t = (f32[5,4,2], s32[5,4,2]) topk(x), k=2, largest=true
ROOT y = s32[5,4,2] get-tuple-element(t), index=1)");
}

TEST(RowFlow, Products) {
  expect_alone("ROOT y = f32[5,4,6] dot(x, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}");
  expect_alone(
      "ROOT y = f32[5,4,4] dot(x, x), lhs_batch_dims={0}, rhs_batch_dims={0}, "
      "lhs_contracting_dims={2}, rhs_contracting_dims={2}");
  EXPECT_EQ(follow(R"(a = f32[5,12] reshape(x)
ROOT y = f32[5,5] dot(a, a), lhs_contracting_dims={1}, rhs_contracting_dims={1})"),
            "dot: combines each row with every other");
  EXPECT_EQ(follow(R"(a = f32[5,12] reshape(x)
g = f32[12,12] dot(a, a), lhs_contracting_dims={0}, rhs_contracting_dims={0}
ROOT y = f32[5,12] dot(a, g), lhs_contracting_dims={1}, rhs_contracting_dims={0})"),
            "dot: adds up over the rows of the batch");
}

TEST(RowFlow, Convolutions) {
  expect_alone(
      R"(k = f32[2,3,6] constant({...})
ROOT y = f32[5,3,6] convolution(x, k), window={size=2}, dim_labels=b0f_0io->b0f)");
  EXPECT_EQ(follow(R"(k = f32[2,3,6] constant({...})
 t = f32[4,5,3] transpose(x), dimensions={1,0,2}
ROOT y = f32[4,4,6] convolution(t, k), window={size=2}, dim_labels=b0f_0io->b0f)"),
            "convolution: moves a window over the rows of the batch");
  // Rows as groups of features, each with a kernel of its own.
  expect_alone(
      R"(t = f32[4,5,3] transpose(x), dimensions={1,0,2}
 i = f32[1,4,15] reshape(t)
g = f32[5,4,3] negate(x)
 u = f32[4,3,5] transpose(g), dimensions={1,2,0}
s = f32[2,3,5] slice(u), slice={[0:2], [0:3], [0:5]}
c = f32[1,3,5] convolution(i, s), window={size=2}, feature_group_count=5, dim_labels=b0f_0io->b0f
r = f32[3,5] reshape(c)
 ROOT y = f32[5,3] transpose(r), dimensions={1,0})");
}

// In each row, the row's own number, next to the numbers from the data.
constexpr const char* kOwnRows =
    R"(i = s32[5,2,1] iota(), iota_dimension=0
 k = s32[5,2,1] reshape(n)
p = s32[5,2,2] concatenate(i, k), dimensions={2}
)";

TEST(RowFlow, LookupsInTheOwnRow) {
  const std::string gather =
      "ROOT y = f32[5,2,3] gather(x, p), offset_dims={2}, collapsed_slice_dims={0,1}, "
      "start_index_map={0,1}, index_vector_dim=2, slice_sizes={1,1,3}";
  expect_alone(kOwnRows + gather);
  EXPECT_EQ(follow(R"(j = s32[5,2,1] iota(), iota_dimension=0
 i = s32[5,2,1] reverse(j), dimensions={0}
 k = s32[5,2,1] reshape(n)
p = s32[5,2,2] concatenate(i, k), dimensions={2}
)" + gather),
            "perhaps gather: looks up rows of the batch by a computed index");
  EXPECT_EQ(follow(R"(k = s32[5,2,1] reshape(n)
 p = s32[5,2,2] concatenate(k, k), dimensions={2}
)" + gather),
            "perhaps gather: looks up rows of the batch by a computed index");
  // In row r, element r: the row is correct, but the element differs from row to row.
  EXPECT_EQ(follow(R"(i = s32[5,1] iota(), iota_dimension=0
p = s32[5,2] concatenate(i, i), dimensions={1}
ROOT y = f32[5,3] gather(x, p), offset_dims={1}, collapsed_slice_dims={0,1}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1,3})"),
            "gather: depends on a row's position in the batch");
  // A table with the rows one after the other.
  expect_alone(
      R"(t = f32[20,3] reshape(x)
 i = s32[5] iota(), iota_dimension=0
f = s32[] constant(4)
 g = s32[5] broadcast(f), dimensions={}
p = s32[5] multiply(i, g)
 o = s32[] constant(2)
q = s32[5] broadcast(o), dimensions={}
 r = s32[5] add(p, q)
ROOT y = f32[5,3] gather(t, r), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,3})");
  // A table that is a weight: any position will do.
  expect_alone(
      "ROOT y = f32[5,2,6] gather(w, n), offset_dims={2}, collapsed_slice_dims={0}, "
      "start_index_map={0}, index_vector_dim=2, slice_sizes={1,6}");
}

TEST(RowFlow, WritesIntoTheOwnRow) {
  const std::string scatter =
      R"(b = f32[5,4,3] broadcast(z), dimensions={}
 u = f32[5,2,3] slice(x), slice={[0:5], [0:2], [0:3]}
ROOT y = f32[5,4,3] scatter(b, p, u), update_window_dims={2}, inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, index_vector_dim=2, to_apply=sum)";
  expect_alone(kOwnRows + scatter);
  EXPECT_EQ(follow(R"(k = s32[5,2,1] reshape(n)
 p = s32[5,2,2] concatenate(k, k), dimensions={2}
)" + scatter),
            "scatter: puts several rows of the batch into the same place");
}

TEST(RowFlow, LoopsOverTime) {
  const std::string computations =
      R"(body {
  s = (s32[], f32[5,3], f32[4,5,3], f32[4,5,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  h = f32[5,3] get-tuple-element(s), index=1
  x = f32[4,5,3] get-tuple-element(s), index=2
  o = f32[4,5,3] get-tuple-element(s), index=3
  z = s32[] constant(0)
  d = f32[1,5,3] dynamic-slice(x, i, z, z), dynamic_slice_sizes={1,5,3}
  r = f32[5,3] reshape(d)
  a = f32[5,3] add(h, r)
  u = f32[1,5,3] reshape(a)
  n = f32[4,5,3] dynamic-update-slice(o, u, i, z, z)
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ROOT t = (s32[], f32[5,3], f32[4,5,3], f32[4,5,3]) tuple(j, a, x, n)
}
turn {
  s = (s32[], f32[5,3], f32[4,5,3], f32[4,5,3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  e = s32[] constant(4)
  ROOT c = pred[] compare(i, e), direction=LT
}
)";
  const std::string loop =
      R"(t = f32[4,5,3] transpose(x), dimensions={1,0,2}
 i = s32[] constant(0)
h = f32[5,3] broadcast(z), dimensions={}
 o = f32[4,5,3] broadcast(z), dimensions={}
s = (s32[], f32[5,3], f32[4,5,3], f32[4,5,3]) tuple(i, h, t, o)
l = (s32[], f32[5,3], f32[4,5,3], f32[4,5,3]) while(s), condition=turn, body=body
)";
  expect_alone(loop +
                   R"(r = f32[4,5,3] get-tuple-element(l), index=3
ROOT y = f32[5,4,3] transpose(r), dimensions={1,0,2})",
               computations);
}

TEST(RowFlow, LoopsUntilAllRowsAreDone) {
  const std::string computations =
      R"(body {
  s = (f32[5], f32[5]) parameter(0)
  v = f32[5] get-tuple-element(s), index=0
  k = f32[5] get-tuple-element(s), index=1
  h = f32[5] multiply(v, v)
  ROOT t = (f32[5], f32[5]) tuple(h, k)
}
turn {
  s = (f32[5], f32[5]) parameter(0)
  v = f32[5] get-tuple-element(s), index=0
  z = f32[] constant(0)
  m = f32[] reduce(v, z), dimensions={0}, to_apply=sum
  ROOT c = pred[] compare(m, z), direction=GT
}
)";
  const std::string loop =
      R"(v = f32[5] reduce(x, z), dimensions={1,2}, to_apply=sum
s = (f32[5], f32[5]) tuple(v, v)
l = (f32[5], f32[5]) while(s), condition=turn, body=body
)";
  EXPECT_EQ(follow(loop + "ROOT y = f32[5] get-tuple-element(l), index=0", computations),
            "reduce: combines the rows of the batch into one");
  expect_alone(loop + "ROOT y = f32[5] get-tuple-element(l), index=1", computations);
}

TEST(RowFlow, Branches) {
  const std::string computations =
      R"(yes {
  v = f32[5,4,3] parameter(0)
  ROOT y = f32[5,4,3] tanh(v)
}
no {
  v = f32[5,4,3] parameter(0)
  ROOT y = f32[5,4,3] negate(v)
}
)";
  expect_alone(
      R"(a = f32[] reduce(w, z), dimensions={0,1}, to_apply=sum
c = pred[] compare(a, z), direction=GT
ROOT y = f32[5,4,3] conditional(c, x, x), true_computation=yes, false_computation=no)",
      computations);
  EXPECT_EQ(follow(R"(a = f32[] reduce(x, z), dimensions={0,1,2}, to_apply=sum
c = pred[] compare(a, z), direction=GT
ROOT y = f32[5,4,3] conditional(c, x, x), true_computation=yes, false_computation=no)",
                   computations),
            "reduce: combines the rows of the batch into one");
}

TEST(RowFlow, MatricesOfEachRow) {
  expect_alone(
      R"(s = f32[5,3,3] slice(x), slice={[0:5], [0:3], [0:3]}
ROOT y = f32[5,3,3] cholesky(s), lower=true)");
  expect_alone(
      R"(s = f32[5,3,3] slice(x), slice={[0:5], [0:3], [0:3]}
t = f32[5,3,4] transpose(x), dimensions={0,2,1}
ROOT y = f32[5,3,4] triangular-solve(s, t), left_side=true, lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE)");
}

TEST(RowFlow, NamesWhatItDoesNotKnow) {
  EXPECT_EQ(follow("ROOT y = f32[5,4,3] custom-call(x), custom_call_target=\"Other\""),
            "perhaps custom-call: is not known to treat rows alone");
  expect_alone(
      R"(c = f32[4,3] custom-call(w), custom_call_target="Other"
b = f32[5,4,3] broadcast(c), dimensions={1,2}
 ROOT y = f32[5,4,3] add(x, b))");
}

// The same net at 5 and at 7 rows.
std::string follow_two(const std::string& five, const std::string& seven) {
  const auto small = testing::parse_hlo(kComputations + five);
  const auto large = testing::parse_hlo(kComputations + seven);
  const RowSizes sizes = compare_sizes(*small, *large, {5, 7});
  RowStudy study(5, sizes);
  const auto causes = follow_rows(*small, 1, study);
  return causes[0] == nullptr ? "alone" : causes[0]->why;
}

TEST(RowFlow, WhatFollowsTheBatchSize) {
  const auto divided = [](const std::string& rows, const std::string& by) {
    return R"(ENTRY e {
 x = f32[)" +
           rows + R"(] parameter(0)
 n = f32[] constant()" +
           by +
           R"()
 b = f32[)" +
           rows + R"(] broadcast(n), dimensions={}
 ROOT y = f32[)" +
           rows + "] divide(x, b)\n}";
  };
  EXPECT_EQ(follow_two(divided("5", "3"), divided("7", "3")), "alone");
  EXPECT_EQ(follow_two(divided("5", "5"), divided("7", "7")),
            "depends on how many rows the batch has");
  const auto counted = [](const std::string& rows) {
    return R"(ENTRY e {
 x = f32[)" +
           rows + R"(] parameter(0)
 o = f32[] constant(1)
 b = f32[)" +
           rows +
           R"(] broadcast(o), dimensions={}
 n = f32[] reduce(b, o), dimensions={0}, to_apply=sum
 m = f32[)" +
           rows + R"(] broadcast(n), dimensions={}
 ROOT y = f32[)" +
           rows + "] divide(x, m)\n}";
  };
  EXPECT_EQ(follow_two(counted("5"), counted("7")), "depends on how many rows the batch has");
  EXPECT_EQ(follow_two(divided("5", "3"),
                       R"(ENTRY e {
 x = f32[7] parameter(0)
 ROOT y = f32[7] negate(x)
})"),
            "differs from one batch size to another");
}

}  // namespace
}  // namespace tfaot::toolkit::engine
