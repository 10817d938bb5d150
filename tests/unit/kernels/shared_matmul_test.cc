// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tests/unit/kernels/functions.h"
#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/matmul_calls.h"
#include "tests/unit/kernels/shared_calls.h"

namespace tfaot::kernels_test {
namespace {

class SharedMatMul : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, SharedMatMul, ::testing::ValuesIn(all_levels()), name_of_level);

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
  Tensor<T> bias(c.columns + c.rows), result(c.batch * c.rows * c.columns), addends(result.size());
  const Int scratch_bytes = kernels::matmul_scratch_bytes(c, sizeof(T));
  Tensor<T> scratch(scratch_bytes / static_cast<Int>(sizeof(T)), 64);
  for (Tensor<T>* tensor : {&lhs, &rhs, &bias, &addends}) random.fill(*tensor);
  MatMulCall shares = c;
  shares.epilogue |= kernels::kEpilogueShared;
  std::vector<const void*> in = {nullptr, lhs.data(), rhs.data()};
  constexpr Int kAnyBias = kernels::kEpilogueBias | kernels::kEpilogueRowBias;
  if ((c.epilogue & kAnyBias) != 0) in.push_back(bias.data());
  if ((c.epilogue & kernels::kEpilogueSum) != 0) in.push_back(addends.data());
  const ResultFunction function = random_function(random);
  if ((c.epilogue & kernels::kEpilogueFunction) != 0) in.push_back(&function);
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
      MatMulCall function = c;
      function.epilogue = with_function<T>(c.epilogue);
      handed_out(function);
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

TEST_P(SharedMatMul, SharesItsWorkWithoutAnotherResult) {
  check_all_shared<float>(kernels<float>().matmul, 21);
  check_all_shared<double>(kernels<double>().matmul, 22);
}

TEST_P(SharedMatMul, SharesRandomWork) {
  // Under sanitizers and by qemu they take ten times as long.
  constexpr int kProducts = kComparesValues ? 25 : 8;
  Random random(23);
  for (int i = 0; i < kProducts && !::testing::Test::HasFailure(); ++i) {
    const Int batch = random.between(1, 4), rows = random.between(1, 600),
              columns = random.between(1, 400);
    MatMulCall c = plain(batch, rows, columns, random.between(1, 200));
    c.rhs_packed = random.between(0, 1);
    c.epilogue = random_summing_epilogue(random);
    if (c.rhs_packed != 0) c.rhs_batch_stride = 0;
    if (random.one_in(3)) {
      c.epilogue = (c.epilogue & ~Int{kernels::kEpilogueBias}) | kernels::kEpilogueRowBias;
    }
    check_shared<float>(kernels<float>().matmul, c, 0, random);
  }
}

}  // namespace
}  // namespace tfaot::kernels_test
