// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "tests/unit/kernels/functions.h"
#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/matmul_calls.h"
#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {
namespace {

class MatMul : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, MatMul, ::testing::ValuesIn(all_levels()), name_of_level);

// Runs the call on random tensors and compares with a plain loop.
template <typename T>
void check(Kernel kernel, const MatMulCall& c, Random& random) {
  SCOPED_TRACE(describe(c));
  const bool placed = (c.epilogue & kernels::kEpiloguePlaced) != 0;
  const Int inner = placed ? c.inner_batch : 1;
  Tensor<T> lhs(extent({{c.batch / inner, c.lhs_batch_stride},
                        {inner, c.lhs_inner_stride},
                        {c.rows, c.lhs_row_stride},
                        {c.depth, c.lhs_depth_stride}}));
  Tensor<T> rhs(extent({{c.batch / inner, c.rhs_batch_stride},
                        {inner, c.rhs_inner_stride},
                        {c.depth, c.rhs_depth_stride},
                        {c.columns, c.rhs_column_stride}}));
  Tensor<T> packed(
      kernels::panel_count(c.columns, sizeof(T)) * c.depth * kernels::panel_columns(sizeof(T)), 64);
  const bool has_row_bias = (c.epilogue & kernels::kEpilogueRowBias) != 0;
  Tensor<T> bias(has_row_bias ? c.rows : c.columns), result(c.batch * c.rows * c.columns),
      addends(result.size());
  Tensor<T> scratch(kernels::matmul_scratch_bytes(c, sizeof(T)) / static_cast<Int>(sizeof(T)), 64);
  random.fill(lhs);
  random.fill(rhs);
  random.fill(bias);
  random.fill(addends);
  pack(packed.data(), c.depth, c.columns,
       [&](Int l, Int j) { return rhs[l * c.rhs_depth_stride + j * c.rhs_column_stride]; });
  void* out[] = {result.data(), scratch.data()};
  const ResultFunction function = random_function(random);
  const bool has_function = (c.epilogue & kernels::kEpilogueFunction) != 0;
  std::vector<const void*> in = {&c, lhs.data(), c.rhs_packed != 0 ? packed.data() : rhs.data()};
  if ((c.epilogue & kernels::kEpilogueBias) != 0 || has_row_bias) in.push_back(bias.data());
  if ((c.epilogue & kernels::kEpilogueSum) != 0) in.push_back(addends.data());
  if (has_function) in.push_back(&function);
  kernel(out, in.data());
  note_bits(result);
  if (!kComparesValues) return;

  for (Int n = 0; n < result.size(); ++n) {
    const Int b = n / c.columns / c.rows, row = n / c.columns % c.rows, column = n % c.columns;
    const Int i = placed ? b / inner * c.result_batch_stride + b % inner * c.result_inner_stride +
                               row * c.result_row_stride + column
                         : n;
    const T* const left =
        lhs.data() + b / inner * c.lhs_batch_stride + b % inner * c.lhs_inner_stride;
    const T* const right = c.rhs_packed != 0 ? rhs.data()
                                             : rhs.data() + b / inner * c.rhs_batch_stride +
                                                   b % inner * c.rhs_inner_stride;
    Sum<T> sum;
    for (Int l = 0; l < c.depth; ++l) {
      sum.add(double{left[row * c.lhs_row_stride + l * c.lhs_depth_stride]} *
              double{right[l * c.rhs_depth_stride + column * c.rhs_column_stride]});
    }
    if ((c.epilogue & kernels::kEpilogueBias) != 0) sum.add(double{bias[column]});
    if (has_row_bias) sum.add(double{bias[row]});
    if ((c.epilogue & kernels::kEpilogueSum) != 0) sum.add(double{addends[i]});
    if ((c.epilogue & kernels::kEpilogueRelu) != 0) sum.relu();
    if ((c.epilogue & kernels::kEpilogueRelu6) == kernels::kEpilogueRelu6) sum.at_most(6);
    const double y = has_function ? function_of(function, sum.value()) : sum.value();
    const double error =
        has_function ? error_of(function, sum.value(), sum.tolerance()) : sum.tolerance();
    ASSERT_NEAR(double{result[i]}, y, error) << "element " << i << ", function " << function.kind;
  }
}

template <typename T>
void check_random(Kernel kernel, Int count, std::uint32_t seed) {
  Random random(seed);
  for (Int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    const Int most = random.one_in(3) ? 4 : 75;
    const Int batch = random.between(1, 3), rows = random.between(1, most),
              columns = random.between(1, 75);
    MatMulCall c = plain(batch, rows, columns, random.between(1, most));
    c.rhs_packed = random.between(0, 1);
    c.inner_batch = c.result_row_stride = -1;  // of calls that are shorter: anything
    c.epilogue = random_summing_epilogue(random);
    if (random.one_in(3)) c.epilogue = with_function<T>(c.epilogue);
    check<T>(kernel, with_random_strides(c, random), random);
  }
}

TEST_P(MatMul, IsThatOfAPlainLoop) {
  check_random<float>(kernels<float>().matmul, 300, 1);
  check_random<double>(kernels<double>().matmul, 300, 2);
}

// As q k^T and p v of heads that lie as [rows, length, heads, width], with the result as [rows,
// heads, length, length] or as the operands.
TEST_P(MatMul, HasABatchOnTwoLevels) {
  Random random(8);
  for (Int i = 0; i < 60 && !::testing::Test::HasFailure(); ++i) {
    const Int outer = random.between(1, 3), heads = random.between(1, 5);
    const Int length = random.between(1, random.one_in(4) ? 80 : 20), width = random.between(1, 40);
    MatMulCall c = plain(outer * heads, length, length, width);
    c.inner_batch = heads;
    c.lhs_row_stride = c.rhs_column_stride = heads * width;
    c.lhs_inner_stride = c.rhs_inner_stride = width;
    c.lhs_batch_stride = c.rhs_batch_stride = length * heads * width;
    c.rhs_depth_stride = 1;
    c.result_row_stride = length;
    c.result_inner_stride = length * length;
    c.result_batch_stride = heads * length * length;
    c.epilogue = random_summing_epilogue(random) | kernels::kEpiloguePlaced;
    check<float>(kernels<float>().matmul, c, random);
    check<double>(kernels<double>().matmul, c, random);
    if (random.one_in(2)) c.epilogue = with_function<float>(c.epilogue);
    check<float>(kernels<float>().matmul, c, random);
    c.epilogue &= ~Int{kernels::kEpilogueFunction};
    std::swap(c.rhs_depth_stride, c.rhs_column_stride);
    c.columns = width;
    c.depth = c.lhs_row_stride = length;
    c.lhs_inner_stride = length * length;
    c.lhs_batch_stride = heads * c.lhs_inner_stride;
    c.result_row_stride = heads * width;
    c.result_inner_stride = width;
    c.result_batch_stride = length * heads * width;
    check<float>(kernels<float>().matmul, c, random);
    check<double>(kernels<double>().matmul, c, random);
  }
}

// Every number of rows with few and many columns, shallow and deep: every tile that exists.
TEST_P(MatMul, HasATileForEveryShape) {
  Random random(3);
  for (Int rows = 1; rows <= 20; ++rows) {
    for (const Int columns :
         {1, 3, 4, 6, 8, 15, 16, 17, 20, 24, 31, 32, 33, 40, 48, 50, 64, 80, 96, 112, 128, 160}) {
      for (const Int depth : {19, 72}) {
        MatMulCall c = plain(1, rows, columns, depth);
        c.rhs_packed = 1;
        c.epilogue = kernels::kEpilogueBias;
        check<float>(kernels<float>().matmul, c, random);
        check<double>(kernels<double>().matmul, c, random);
        c.epilogue |= kernels::kEpilogueSum;
        check<float>(kernels<float>().matmul, c, random);
        c.epilogue = with_function<float>(kernels::kEpilogueBias);
        check<float>(kernels<float>().matmul, c, random);
      }
      if (HasFailure()) return;
    }
  }
}

// A bias for each row, the same in each matrix of the batch: also of more rows than a block.
TEST_P(MatMul, AddsABiasOfEachRow) {
  Random random(10);
  for (const Int rows : {1, 2, 3, 7, 8, 16, 17, 33, 70, 500}) {
    for (const Int columns : {1, 8, 12, 16, 17, 24, 37, 64}) {
      MatMulCall c = plain(rows > 100 ? 1 : random.between(1, 3), rows, columns, 32);
      c.rhs_packed = random.between(0, 1);
      c.epilogue = kernels::kEpilogueRowBias;
      check<float>(kernels<float>().matmul, c, random);
      check<double>(kernels<double>().matmul, c, random);
      c.epilogue |= kernels::kEpilogueSum | kernels::kEpilogueRelu;
      check<float>(kernels<float>().matmul, c, random);
      if (HasFailure()) return;
    }
  }
}

// Few columns: tiles that take four steps of the depth at once, by themselves and many in turn,
// whose right side is arranged once for all of them or for each.
TEST_P(MatMul, HasTilesForFewColumns) {
  Random random(9);
  for (Int columns = 1; columns <= 16; ++columns) {
    for (const auto& [rows, depth] : {std::pair<Int, Int>{8, 16},
                                      {9, 32},
                                      {16, 36},
                                      {17, 132},
                                      {33, 64},
                                      {43, 512},
                                      {33, 516},
                                      {64, 17}}) {
      MatMulCall c = plain(1, rows, columns, depth);
      c.rhs_packed = 1;
      c.epilogue = kernels::kEpilogueBias;
      check<float>(kernels<float>().matmul, c, random);
      c.epilogue = random_summing_epilogue(random);
      check<float>(kernels<float>().matmul, c, random);
      check<float>(kernels<float>().matmul, with_random_strides(c, random), random);
      if (HasFailure()) return;
    }
  }
}

// Every number of rows and columns of a small right side that is known at run time.
template <typename T>
void check_small(Kernel kernel, std::uint32_t seed) {
  Random random(seed);
  for (Int rows = 1; rows <= 11; ++rows) {
    for (Int columns = 1; columns <= 40 && !::testing::Test::HasFailure(); ++columns) {
      MatMulCall c = plain(2, rows, columns, random.between(1, 19));
      check<T>(kernel, c, random);
      c.rhs_depth_stride = 1;
      c.rhs_column_stride = c.depth;
      check<T>(kernel, c, random);
    }
  }
}

TEST_P(MatMul, OfASmallRightSideIsThatOfAPlainLoop) {
  check_small<float>(kernels<float>().matmul, 21);
  check_small<double>(kernels<double>().matmul, 22);
}

// More rows than a block, and deep.
TEST_P(MatMul, IsRightWhenItIsCutIntoBlocks) {
  Random random(4);
  for (const auto& [rows, columns, depth] : {std::tuple<Int, Int, Int>{547, 37, 40},
                                             {5, 70, 1100},
                                             {500, 9, 700},
                                             {500, 24, 700},
                                             {1, 33, 2049}}) {
    for (const Int packed : {0, 1}) {
      MatMulCall c = plain(1, rows, columns, depth);
      c.rhs_packed = packed;
      c.epilogue = kernels::kEpilogueBias | kernels::kEpilogueRelu;
      check<float>(kernels<float>().matmul, c, random);
      check<double>(kernels<double>().matmul, c, random);
    }
  }
}

// 3 of 5 rows of a batch count, and each is 2 rows of the product.
template <typename T>
void check_live_rows(Kernel kernel, Int epilogue) {
  MatMulCall all = plain(1, 6, 37, 19);
  all.rhs_packed = 1;
  all.epilogue = epilogue;
  MatMulCall padded = all;
  padded.rows = 10;
  padded.live_rows = 2;
  Tensor<T> lhs(10 * 19), packed(5 * 19 * kernels::panel_columns(sizeof(T)), 64), bias(37);
  Tensor<T> expected(10 * 37), result(10 * 37), scratch(16, 64);
  Random random(7);
  for (Tensor<T>* tensor : {&lhs, &packed, &bias, &result}) random.fill(*tensor);
  for (Int i = 6 * 37; i < 10 * 37; ++i) expected[i] = result[i];
  const Int live = 3;
  void* out[] = {expected.data(), scratch.data()};
  const void* in[] = {&all, lhs.data(), packed.data(), bias.data(), &live};
  kernel(out, in);
  out[0] = result.data();
  in[0] = &padded;
  if ((epilogue & kernels::kEpilogueBias) == 0) in[3] = &live;
  kernel(out, in);
  for (Int i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], expected[i]) << "element " << i;
}

// Right sides for which tiles look ahead: in one tile and in several, too large for two of them,
// with a part of a panel at the end.
TEST_P(MatMul, IsRightWhenItsTilesLookAhead) {
  Random random(12);
  for (const auto& [rows, columns, depth] : {std::tuple<Int, Int, Int>{4, 1030, 260},
                                             {8, 256, 1030},
                                             {16, 140, 130},
                                             {19, 130, 260},
                                             {16, 64, 2100},
                                             {130, 100, 300}}) {
    MatMulCall c = plain(1, rows, columns, depth);
    c.rhs_packed = 1;
    c.epilogue = kernels::kEpilogueBias | kernels::kEpilogueRelu;
    check<float>(kernels<float>().matmul, c, random);
    check<double>(kernels<double>().matmul, c, random);
    c.epilogue |= kernels::kEpilogueSum;
    check<float>(kernels<float>().matmul, c, random);
  }
}

TEST_P(MatMul, LeavesOutRowsOfPadding) {
  for (const Int epilogue :
       {kernels::kEpilogueNone, kernels::kEpilogueBias, kernels::kEpilogueRelu}) {
    check_live_rows<float>(kernels<float>().matmul, epilogue);
    check_live_rows<double>(kernels<double>().matmul, epilogue);
  }
}

TEST_P(MatMul, OfNoDepthIsTheBias) {
  MatMulCall c = plain(1, 3, 5, 0);
  c.rhs_packed = 1;
  c.epilogue = kernels::kEpilogueBias;
  const float lhs = 0, rhs = 0;
  Tensor<float> bias(5), result(15), scratch(16, 64);
  Random(5).fill(bias);
  void* out[] = {result.data(), scratch.data()};
  const void* in[] = {&c, &lhs, &rhs, bias.data()};
  kernels<float>().matmul(out, in);
  for (Int i = 0; i < 15; ++i) EXPECT_EQ(result[i], bias[i % 5]);
}

// A NaN stays one, whatever the activation.
TEST_P(MatMul, KeepsNaN) {
  MatMulCall c = plain(1, 2, 20, 3);
  c.rhs_packed = 1;
  c.epilogue = kernels::kEpilogueRelu;
  Tensor<float> lhs(6), packed(2 * 3 * 16, 64), result(40), scratch(16, 64);
  Random random(6);
  random.fill(lhs);
  random.fill(packed);
  lhs[4] = std::numeric_limits<float>::quiet_NaN();
  void* out[] = {result.data(), scratch.data()};
  const void* in[] = {&c, lhs.data(), packed.data()};
  kernels<float>().matmul(out, in);
  for (Int i = 0; i < 40; ++i) EXPECT_EQ(std::isnan(result[i]), i >= 20) << i;
}

}  // namespace
}  // namespace tfaot::kernels_test
