// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/shared_calls.h"
#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {
namespace {

using kernels::MatMulCall;

class MatMul : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, MatMul, ::testing::ValuesIn(all_levels()), name_of_level);

std::string describe(const MatMulCall& c) {
  std::string text;
  const Int* field = &c.batch;
  for (std::size_t i = 0; i < sizeof c / sizeof(Int); ++i) text += std::to_string(field[i]) + " ";
  return text;
}

Int extent(std::initializer_list<std::pair<Int, Int>> counts_and_strides) {
  Int last = 0;
  for (const auto& [count, stride] : counts_and_strides) last += (count - 1) * stride;
  return last + 1;
}

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
  Tensor<T> bias(c.columns), result(c.batch * c.rows * c.columns), addends(result.size());
  Tensor<T> scratch(kernels::matmul_scratch_bytes(c, sizeof(T)) / static_cast<Int>(sizeof(T)), 64);
  random.fill(lhs);
  random.fill(rhs);
  random.fill(bias);
  random.fill(addends);
  pack(packed.data(), c.depth, c.columns,
       [&](Int l, Int j) { return rhs[l * c.rhs_depth_stride + j * c.rhs_column_stride]; });
  void* out[] = {result.data(), scratch.data()};
  const void* in[] = {&c, lhs.data(), c.rhs_packed != 0 ? packed.data() : rhs.data(), bias.data(),
                      addends.data()};
  if ((c.epilogue & kernels::kEpilogueBias) == 0) in[3] = addends.data();
  kernel(out, in);

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
    if ((c.epilogue & kernels::kEpilogueSum) != 0) sum.add(double{addends[i]});
    if ((c.epilogue & kernels::kEpilogueRelu) != 0) sum.relu();
    if ((c.epilogue & kernels::kEpilogueRelu6) == kernels::kEpilogueRelu6) sum.at_most(6);
    ASSERT_NEAR(double{result[i]}, sum.value(), sum.tolerance()) << "element " << i;
  }
}

MatMulCall plain(Int batch, Int rows, Int columns, Int depth) {
  MatMulCall c = {};
  c.batch = batch;
  c.rows = rows;
  c.columns = columns;
  c.depth = depth;
  c.lhs_batch_stride = rows * depth;
  c.lhs_row_stride = depth;
  c.lhs_depth_stride = 1;
  c.rhs_batch_stride = depth * columns;
  c.rhs_depth_stride = columns;
  c.rhs_column_stride = 1;
  return c;
}

// Transposed, padded or repeated (stride zero) operands.
MatMulCall with_random_strides(MatMulCall c, Random& random) {
  const Int gap = random.one_in(2) ? 0 : random.between(1, 5);
  if (random.one_in(2)) {
    c.lhs_depth_stride = c.rows + gap;
    c.lhs_row_stride = 1;
    c.lhs_batch_stride = c.depth * c.lhs_depth_stride;
  } else {
    c.lhs_row_stride = c.depth + gap;
    c.lhs_batch_stride = c.rows * c.lhs_row_stride;
  }
  if (random.one_in(2)) {
    c.rhs_column_stride = c.depth + gap;
    c.rhs_depth_stride = 1;
    c.rhs_batch_stride = c.columns * c.rhs_column_stride;
  } else if (random.one_in(4)) {
    c.rhs_column_stride = 2;
    c.rhs_depth_stride = 2 * c.columns + gap;
    c.rhs_batch_stride = c.depth * c.rhs_depth_stride;
  } else {
    c.rhs_depth_stride = c.columns + gap;
    c.rhs_batch_stride = c.depth * c.rhs_depth_stride;
  }
  for (Int* stride : {&c.lhs_batch_stride, &c.lhs_row_stride, &c.lhs_depth_stride,
                      &c.rhs_batch_stride, &c.rhs_depth_stride, &c.rhs_column_stride}) {
    if (random.one_in(12)) *stride = 0;
  }
  return c;
}

template <typename T>
void check_random(Kernel kernel, Int count, std::uint32_t seed) {
  Random random(seed);
  for (Int i = 0; i < count && !::testing::Test::HasFailure(); ++i) {
    const Int most = random.one_in(3) ? 4 : 75;
    MatMulCall c = plain(random.between(1, 3), random.between(1, most), random.between(1, 75),
                         random.between(1, most));
    c.rhs_packed = random.between(0, 1);
    c.inner_batch = c.result_row_stride = -1;  // of calls that are shorter: anything
    c.epilogue = random_summing_epilogue(random);
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
      }
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

// Returns how often pieces were handed out.
template <typename T>
int check_shared(Kernel kernel, const MatMulCall& c, Int live, Random& random) {
  SCOPED_TRACE(describe(c));
  Tensor<T> lhs(extent(
      {{c.batch, c.lhs_batch_stride}, {c.rows, c.lhs_row_stride}, {c.depth, c.lhs_depth_stride}}));
  Tensor<T> rhs(c.rhs_packed != 0 ? kernels::panel_count(c.columns, sizeof(T)) * c.depth *
                                        kernels::panel_columns(sizeof(T))
                                  : extent({{c.batch, c.rhs_batch_stride},
                                            {c.depth, c.rhs_depth_stride},
                                            {c.columns, c.rhs_column_stride}}),
                64);
  Tensor<T> bias(c.columns), result(c.batch * c.rows * c.columns), addends(result.size());
  const Int scratch_bytes = kernels::matmul_scratch_bytes(c, sizeof(T));
  Tensor<T> scratch(scratch_bytes / static_cast<Int>(sizeof(T)), 64);
  for (Tensor<T>* tensor : {&lhs, &rhs, &bias, &addends}) random.fill(*tensor);
  MatMulCall shares = c;
  shares.epilogue |= kernels::kEpilogueShared;
  std::vector<const void*> in = {nullptr, lhs.data(), rhs.data()};
  if ((c.epilogue & kernels::kEpilogueBias) != 0) in.push_back(bias.data());
  if ((c.epilogue & kernels::kEpilogueSum) != 0) in.push_back(addends.data());
  if (c.live_rows != 0) in.push_back(&live);
  in.push_back(nullptr);
  return expect_the_same_shared(kernel, &c, &shares, in, {result.data(), scratch.data()}, result,
                                static_cast<std::size_t>(scratch_bytes));
}

template <typename T>
void check_all_shared(Kernel kernel, std::uint32_t seed) {
  Random random(seed);
  const auto handed_out = [&](MatMulCall c, Int live = 0) {
    return check_shared<T>(kernel, c, live, random);
  };
  // As many columns as rows, more columns, more rows than a block has, a last panel that is not
  // whole; one and two rows; depths that are added up in several sums.
  for (const auto& [rows, columns, depth] : std::vector<std::array<Int, 3>>{{128, 384, 64},
                                                                            {49, 700, 40},
                                                                            {1000, 70, 30},
                                                                            {481, 33, 64},
                                                                            {1, 3000, 100},
                                                                            {2, 3000, 64},
                                                                            {1, 20000, 20},
                                                                            {2, 9000, 31},
                                                                            {3, 5003, 60},
                                                                            {1931, 5, 130}}) {
    for (const Int packed : {1, 0}) {
      MatMulCall c = plain(1, rows, columns, depth);
      c.rhs_packed = packed;
      c.epilogue = random_summing_epilogue(random);
      const int calls = handed_out(c);
      EXPECT_TRUE(calls > 0 || packed == 0) << describe(c);
    }
  }
  // Live rows, and matrices that are handed out whole.
  MatMulCall live = plain(1, 300, 200, 100);
  live.rhs_packed = 1;
  live.live_rows = 30;
  live.epilogue = kernels::kEpilogueBias;
  EXPECT_GT(handed_out(live, 7), 0);
  MatMulCall many = plain(12, 30, 40, 70);
  EXPECT_GT(handed_out(many), 0);
  // Too small.
  MatMulCall small = plain(1, 8, 32, 16);
  small.rhs_packed = 1;
  EXPECT_EQ(handed_out(small), 0);
}

TEST_P(MatMul, SharesItsWorkWithoutAnotherResult) {
  check_all_shared<float>(kernels<float>().matmul, 21);
  check_all_shared<double>(kernels<double>().matmul, 22);
}

TEST_P(MatMul, SharesRandomWork) {
  Random random(23);
  for (int i = 0; i < 40 && !::testing::Test::HasFailure(); ++i) {
    MatMulCall c = plain(random.between(1, 4), random.between(1, 600), random.between(1, 400),
                         random.between(1, 200));
    c.rhs_packed = random.between(0, 1);
    c.epilogue = random_summing_epilogue(random);
    if (c.rhs_packed != 0) c.rhs_batch_stride = 0;
    check_shared<float>(kernels<float>().matmul, c, 0, random);
  }
}

}  // namespace
}  // namespace tfaot::kernels_test
