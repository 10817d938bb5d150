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
    "sum {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT s = f32[] add(p, q)\n}\n"
    "less {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n"
    "  ROOT s = pred[] compare(p, q), direction=LT\n}\n";

// "alone", or the operation and what it does. Parameters: x, n (places) and w, a weight.
std::string follow(const std::string& body, const std::string& computations = "") {
  const auto module =
      testing::parse_hlo(kComputations + computations +
                         "ENTRY e {\n  x = f32[5,4,3] parameter(0)\n  n = s32[5,2] parameter(1)\n"
                         "  w = f32[3,6] parameter(2)\n  z = f32[] constant(0)\n" +
                         body + "}");
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
      "t = f32[4,3] constant({{1,2,3},{4,5,6},{7,8,9},{1,2,3}})\n"
      "b = f32[5,4,3] broadcast(t), dimensions={1,2}\n ROOT y = f32[5,4,3] multiply(x, b)");
  EXPECT_EQ(follow("i = f32[5,4,3] iota(), iota_dimension=0\n ROOT y = f32[5,4,3] add(x, i)"),
            "add: depends on a row's position in the batch");
  expect_alone("i = f32[5,4,3] iota(), iota_dimension=1\n ROOT y = f32[5,4,3] add(x, i)");
  EXPECT_EQ(follow("ROOT y = f32[5] iota(), iota_dimension=0"),
            "iota: depends on a row's position in the batch");
  EXPECT_EQ(follow("t = f32[5] constant({1,2,3,4,5})\n b = f32[5,4,3] broadcast(t), "
                   "dimensions={0}\n ROOT y = f32[5,4,3] add(x, b)"),
            "add: depends on a row's position in the batch");
}

TEST(RowFlow, Weights) {
  EXPECT_EQ(follow("r = f32[18] reshape(w)\n s = f32[5] slice(r), slice={[0:5]}\n"
                   "b = f32[5,4,3] broadcast(s), dimensions={0}\n ROOT y = f32[5,4,3] add(x, b)"),
            "add: depends on a row's position in the batch");
}

TEST(RowFlow, Shapes) {
  expect_alone("r = f32[20,3] reshape(x)\n ROOT y = f32[5,12] reshape(r)");
  expect_alone(
      "t = f32[4,3,5] transpose(x), dimensions={1,2,0}\n r = f32[2,6,5] reshape(t)\n"
      "u = f32[60] reshape(r)\n v = f32[12,5] reshape(u)\n"
      "ROOT y = f32[5,12] transpose(v), dimensions={1,0}");
  EXPECT_EQ(follow("r = f32[12,5] reshape(x)\n ROOT y = f32[5,12] transpose(r), dimensions={1,0}"),
            "perhaps reshape: splits the batch, but not by rows");
  EXPECT_EQ(follow("t = f32[4,5,3] transpose(x), dimensions={1,0,2}\n"
                   "ROOT y = f32[5,4,3] reshape(t)"),
            "perhaps reshape: splits the batch, but not by rows");
  EXPECT_EQ(follow("ROOT y = f32[4,5,3] transpose(x), dimensions={1,0,2}"),
            "transpose: moves the rows to other positions");
}

TEST(RowFlow, Parts) {
  expect_alone("ROOT y = f32[5,2,3] slice(x), slice={[0:5], [1:4:2], [0:3]}");
  EXPECT_EQ(follow("ROOT y = f32[2,4,3] slice(x), slice={[0:2], [0:4], [0:3]}"),
            "slice: takes some rows of the batch by their position");
  EXPECT_EQ(follow("s = f32[1,4,3] slice(x), slice={[0:1], [0:4], [0:3]}\n"
                   "r = f32[4,3] reshape(s)\n b = f32[5,4,3] broadcast(r), dimensions={1,2}\n"
                   "ROOT y = f32[5,4,3] subtract(x, b)"),
            "slice: takes some rows of the batch by their position");
  expect_alone("r = f32[20,3] reshape(x)\n ROOT y = f32[5,3] slice(r), slice={[2:20:4], [0:3]}");
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
      "t = f32[5,4,3] negate(x)\n c = f32[10,4,3] concatenate(x, t), dimensions={0}\n"
      "h = f32[10,4,3] tanh(c)\n"
      "ROOT y = f32[5,4,3] slice(h), slice={[5:10], [0:4], [0:3]}");
  expect_alone(
      "b = f32[5,4,3] broadcast(z), dimensions={}\n"
      "ROOT c = f32[5,8,3] concatenate(x, b), dimensions={1}");
  EXPECT_EQ(follow("a = f32[4,4,3] slice(x), slice={[1:5], [0:4], [0:3]}\n"
                   "b = f32[1,4,3] slice(x), slice={[0:1], [0:4], [0:3]}\n"
                   "ROOT y = f32[5,4,3] concatenate(a, b), dimensions={0}"),
            "slice: takes some rows of the batch by their position");
}

TEST(RowFlow, Sums) {
  expect_alone("ROOT y = f32[5] reduce(x, z), dimensions={1,2}, to_apply=sum");
  EXPECT_EQ(follow("r = f32[4,3] reduce(x, z), dimensions={0}, to_apply=sum\n"
                   "ROOT y = f32[5,4,3] broadcast(r), dimensions={1,2}"),
            "reduce: combines the rows of the batch into one");
  EXPECT_EQ(follow("t = f32[20,3] reshape(x)\n"
                   "r = f32[3] reduce(t, z), dimensions={0}, to_apply=sum\n"
                   "ROOT y = f32[5,3] broadcast(r), dimensions={1}"),
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
      "t = (f32[5,4,2], s32[5,4,2]) topk(x), k=2, largest=true\n"
      "ROOT y = s32[5,4,2] get-tuple-element(t), index=1");
}

TEST(RowFlow, Products) {
  expect_alone("ROOT y = f32[5,4,6] dot(x, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}");
  expect_alone(
      "ROOT y = f32[5,4,4] dot(x, x), lhs_batch_dims={0}, rhs_batch_dims={0}, "
      "lhs_contracting_dims={2}, rhs_contracting_dims={2}");
  EXPECT_EQ(follow("a = f32[5,12] reshape(x)\n"
                   "ROOT y = f32[5,5] dot(a, a), lhs_contracting_dims={1}, "
                   "rhs_contracting_dims={1}"),
            "dot: combines each row with every other");
  EXPECT_EQ(follow("a = f32[5,12] reshape(x)\n"
                   "g = f32[12,12] dot(a, a), lhs_contracting_dims={0}, rhs_contracting_dims={0}\n"
                   "ROOT y = f32[5,12] dot(a, g), lhs_contracting_dims={1}, "
                   "rhs_contracting_dims={0}"),
            "dot: adds up over the rows of the batch");
}

TEST(RowFlow, Convolutions) {
  expect_alone(
      "k = f32[2,3,6] constant({...})\n"
      "ROOT y = f32[5,3,6] convolution(x, k), window={size=2}, dim_labels=b0f_0io->b0f");
  EXPECT_EQ(follow("k = f32[2,3,6] constant({...})\n t = f32[4,5,3] transpose(x), "
                   "dimensions={1,0,2}\n"
                   "ROOT y = f32[4,4,6] convolution(t, k), window={size=2}, "
                   "dim_labels=b0f_0io->b0f"),
            "convolution: moves a window over the rows of the batch");
  // Rows as groups of features, each with a kernel of its own.
  expect_alone(
      "t = f32[4,5,3] transpose(x), dimensions={1,0,2}\n i = f32[1,4,15] reshape(t)\n"
      "g = f32[5,4,3] negate(x)\n u = f32[4,3,5] transpose(g), dimensions={1,2,0}\n"
      "s = f32[2,3,5] slice(u), slice={[0:2], [0:3], [0:5]}\n"
      "c = f32[1,3,5] convolution(i, s), window={size=2}, feature_group_count=5, "
      "dim_labels=b0f_0io->b0f\n"
      "r = f32[3,5] reshape(c)\n ROOT y = f32[5,3] transpose(r), dimensions={1,0}");
}

// In each row, the row's own number, next to the numbers from the data.
constexpr const char* kOwnRows =
    "i = s32[5,2,1] iota(), iota_dimension=0\n k = s32[5,2,1] reshape(n)\n"
    "p = s32[5,2,2] concatenate(i, k), dimensions={2}\n";

TEST(RowFlow, LookupsInTheOwnRow) {
  const std::string gather =
      "ROOT y = f32[5,2,3] gather(x, p), offset_dims={2}, collapsed_slice_dims={0,1}, "
      "start_index_map={0,1}, index_vector_dim=2, slice_sizes={1,1,3}";
  expect_alone(kOwnRows + gather);
  EXPECT_EQ(follow("j = s32[5,2,1] iota(), iota_dimension=0\n i = s32[5,2,1] reverse(j), "
                   "dimensions={0}\n k = s32[5,2,1] reshape(n)\n"
                   "p = s32[5,2,2] concatenate(i, k), dimensions={2}\n" +
                   gather),
            "perhaps gather: looks up rows of the batch by a computed index");
  EXPECT_EQ(
      follow("k = s32[5,2,1] reshape(n)\n p = s32[5,2,2] concatenate(k, k), dimensions={2}\n" +
             gather),
      "perhaps gather: looks up rows of the batch by a computed index");
  // In row r, element r: the row is correct, but the element differs from row to row.
  EXPECT_EQ(follow("i = s32[5,1] iota(), iota_dimension=0\n"
                   "p = s32[5,2] concatenate(i, i), dimensions={1}\n"
                   "ROOT y = f32[5,3] gather(x, p), offset_dims={1}, collapsed_slice_dims={0,1}, "
                   "start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1,3}"),
            "gather: depends on a row's position in the batch");
  // A table with the rows one after the other.
  expect_alone(
      "t = f32[20,3] reshape(x)\n i = s32[5] iota(), iota_dimension=0\n"
      "f = s32[] constant(4)\n g = s32[5] broadcast(f), dimensions={}\n"
      "p = s32[5] multiply(i, g)\n o = s32[] constant(2)\n"
      "q = s32[5] broadcast(o), dimensions={}\n r = s32[5] add(p, q)\n"
      "ROOT y = f32[5,3] gather(t, r), offset_dims={1}, collapsed_slice_dims={0}, "
      "start_index_map={0}, index_vector_dim=1, slice_sizes={1,3}");
  // A table that is a weight: any position will do.
  expect_alone(
      "ROOT y = f32[5,2,6] gather(w, n), offset_dims={2}, collapsed_slice_dims={0}, "
      "start_index_map={0}, index_vector_dim=2, slice_sizes={1,6}");
}

TEST(RowFlow, WritesIntoTheOwnRow) {
  const std::string scatter =
      "b = f32[5,4,3] broadcast(z), dimensions={}\n u = f32[5,2,3] slice(x), "
      "slice={[0:5], [0:2], [0:3]}\n"
      "ROOT y = f32[5,4,3] scatter(b, p, u), update_window_dims={2}, inserted_window_dims={0,1}, "
      "scatter_dims_to_operand_dims={0,1}, index_vector_dim=2, to_apply=sum";
  expect_alone(kOwnRows + scatter);
  EXPECT_EQ(
      follow("k = s32[5,2,1] reshape(n)\n p = s32[5,2,2] concatenate(k, k), dimensions={2}\n" +
             scatter),
      "scatter: puts several rows of the batch into the same place");
}

TEST(RowFlow, LoopsOverTime) {
  const std::string computations =
      "body {\n  s = (s32[], f32[5,3], f32[4,5,3], f32[4,5,3]) parameter(0)\n"
      "  i = s32[] get-tuple-element(s), index=0\n  h = f32[5,3] get-tuple-element(s), index=1\n"
      "  x = f32[4,5,3] get-tuple-element(s), index=2\n"
      "  o = f32[4,5,3] get-tuple-element(s), index=3\n  z = s32[] constant(0)\n"
      "  d = f32[1,5,3] dynamic-slice(x, i, z, z), dynamic_slice_sizes={1,5,3}\n"
      "  r = f32[5,3] reshape(d)\n  a = f32[5,3] add(h, r)\n  u = f32[1,5,3] reshape(a)\n"
      "  n = f32[4,5,3] dynamic-update-slice(o, u, i, z, z)\n  one = s32[] constant(1)\n"
      "  j = s32[] add(i, one)\n"
      "  ROOT t = (s32[], f32[5,3], f32[4,5,3], f32[4,5,3]) tuple(j, a, x, n)\n}\n"
      "turn {\n  s = (s32[], f32[5,3], f32[4,5,3], f32[4,5,3]) parameter(0)\n"
      "  i = s32[] get-tuple-element(s), index=0\n  e = s32[] constant(4)\n"
      "  ROOT c = pred[] compare(i, e), direction=LT\n}\n";
  const std::string loop =
      "t = f32[4,5,3] transpose(x), dimensions={1,0,2}\n i = s32[] constant(0)\n"
      "h = f32[5,3] broadcast(z), dimensions={}\n o = f32[4,5,3] broadcast(z), dimensions={}\n"
      "s = (s32[], f32[5,3], f32[4,5,3], f32[4,5,3]) tuple(i, h, t, o)\n"
      "l = (s32[], f32[5,3], f32[4,5,3], f32[4,5,3]) while(s), condition=turn, body=body\n";
  expect_alone(loop +
                   "r = f32[4,5,3] get-tuple-element(l), index=3\n"
                   "ROOT y = f32[5,4,3] transpose(r), dimensions={1,0,2}",
               computations);
}

TEST(RowFlow, LoopsUntilAllRowsAreDone) {
  const std::string computations =
      "body {\n  s = (f32[5], f32[5]) parameter(0)\n  v = f32[5] get-tuple-element(s), index=0\n"
      "  k = f32[5] get-tuple-element(s), index=1\n  h = f32[5] multiply(v, v)\n"
      "  ROOT t = (f32[5], f32[5]) tuple(h, k)\n}\n"
      "turn {\n  s = (f32[5], f32[5]) parameter(0)\n  v = f32[5] get-tuple-element(s), index=0\n"
      "  z = f32[] constant(0)\n  m = f32[] reduce(v, z), dimensions={0}, to_apply=sum\n"
      "  ROOT c = pred[] compare(m, z), direction=GT\n}\n";
  const std::string loop =
      "v = f32[5] reduce(x, z), dimensions={1,2}, to_apply=sum\n"
      "s = (f32[5], f32[5]) tuple(v, v)\n"
      "l = (f32[5], f32[5]) while(s), condition=turn, body=body\n";
  EXPECT_EQ(follow(loop + "ROOT y = f32[5] get-tuple-element(l), index=0", computations),
            "reduce: combines the rows of the batch into one");
  expect_alone(loop + "ROOT y = f32[5] get-tuple-element(l), index=1", computations);
}

TEST(RowFlow, Branches) {
  const std::string computations =
      "yes {\n  v = f32[5,4,3] parameter(0)\n  ROOT y = f32[5,4,3] tanh(v)\n}\n"
      "no {\n  v = f32[5,4,3] parameter(0)\n  ROOT y = f32[5,4,3] negate(v)\n}\n";
  expect_alone(
      "a = f32[] reduce(w, z), dimensions={0,1}, to_apply=sum\n"
      "c = pred[] compare(a, z), direction=GT\n"
      "ROOT y = f32[5,4,3] conditional(c, x, x), true_computation=yes, "
      "false_computation=no",
      computations);
  EXPECT_EQ(follow("a = f32[] reduce(x, z), dimensions={0,1,2}, to_apply=sum\n"
                   "c = pred[] compare(a, z), direction=GT\n"
                   "ROOT y = f32[5,4,3] conditional(c, x, x), true_computation=yes, "
                   "false_computation=no",
                   computations),
            "reduce: combines the rows of the batch into one");
}

TEST(RowFlow, MatricesOfEachRow) {
  expect_alone(
      "s = f32[5,3,3] slice(x), slice={[0:5], [0:3], [0:3]}\n"
      "ROOT y = f32[5,3,3] cholesky(s), lower=true");
  expect_alone(
      "s = f32[5,3,3] slice(x), slice={[0:5], [0:3], [0:3]}\n"
      "t = f32[5,3,4] transpose(x), dimensions={0,2,1}\n"
      "ROOT y = f32[5,3,4] triangular-solve(s, t), left_side=true, lower=true, "
      "unit_diagonal=false, transpose_a=NO_TRANSPOSE");
}

TEST(RowFlow, NamesWhatItDoesNotKnow) {
  EXPECT_EQ(follow("ROOT y = f32[5,4,3] custom-call(x), custom_call_target=\"Other\""),
            "perhaps custom-call: is not known to treat rows alone");
  expect_alone(
      "c = f32[4,3] custom-call(w), custom_call_target=\"Other\"\n"
      "b = f32[5,4,3] broadcast(c), dimensions={1,2}\n ROOT y = f32[5,4,3] add(x, b)");
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
    return "ENTRY e {\n x = f32[" + rows + "] parameter(0)\n n = f32[] constant(" + by +
           ")\n b = f32[" + rows + "] broadcast(n), dimensions={}\n ROOT y = f32[" + rows +
           "] divide(x, b)\n}";
  };
  EXPECT_EQ(follow_two(divided("5", "3"), divided("7", "3")), "alone");
  EXPECT_EQ(follow_two(divided("5", "5"), divided("7", "7")),
            "depends on how many rows the batch has");
  const auto counted = [](const std::string& rows) {
    return "ENTRY e {\n x = f32[" + rows + "] parameter(0)\n o = f32[] constant(1)\n b = f32[" +
           rows +
           "] broadcast(o), dimensions={}\n n = f32[] reduce(b, o), dimensions={0}, "
           "to_apply=sum\n m = f32[" +
           rows + "] broadcast(n), dimensions={}\n ROOT y = f32[" + rows + "] divide(x, m)\n}";
  };
  EXPECT_EQ(follow_two(counted("5"), counted("7")), "depends on how many rows the batch has");
  EXPECT_EQ(follow_two(divided("5", "3"),
                       "ENTRY e {\n x = f32[7] parameter(0)\n ROOT y = f32[7] negate(x)\n}"),
            "differs from one batch size to another");
}

}  // namespace
}  // namespace tfaot::toolkit::engine
