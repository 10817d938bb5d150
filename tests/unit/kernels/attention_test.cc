// SPDX-License-Identifier: Apache-2.0
// tfaot_attention against its formula in double precision.
#include "tfaot/kernels/abi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/shared_calls.h"
#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {
namespace {

class Attention : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, Attention, ::testing::ValuesIn(all_levels()), name_of_level);

// How the matrices of a tensor lie.
enum class Order { kDense, kHeadsInRows, kColumnsFirst, kShared };

// Of matrices [rows, columns], with `gap` elements after each row.
struct Layout {
  Order order;
  Int rows, columns, gap;

  kernels::MatrixPlaces places(Int inner) const {
    const Int row = columns + gap;
    switch (order) {
      case Order::kDense:
        return {inner * rows * row, rows * row, row, 1};
      case Order::kHeadsInRows:
        return {rows * inner * row, row, inner * row, 1};
      case Order::kColumnsFirst:
        return {inner * columns * rows, columns * rows, 1, rows};
      case Order::kShared:
        break;
    }
    return {0, 0, row, 1};
  }
  Int size(Int batch) const { return batch * rows * (columns + gap); }
};

Int place(const kernels::AttentionCall& call, const kernels::MatrixPlaces& places, Int b) {
  return b / call.inner_batch * places.batch_stride + b % call.inner_batch * places.inner_stride;
}

// One number of a result, and how far a kernel may be from it.
struct Expected {
  double value = 0, tolerance = 0;
};

struct Tensors {
  Tensor<float> queries, keys, values, result;
};

std::vector<Expected> expected_row(const kernels::AttentionCall& call, const Tensors& t, Int b,
                                   Int row) {
  std::vector<double> weights;
  double peak = -std::numeric_limits<double>::infinity();
  double error = 0;
  for (Int k = 0; k < call.keys; ++k) {
    Sum<float> score;
    for (Int l = 0; l < call.depth; ++l) {
      score.add(double{t.queries[place(call, call.queries, b) + row * call.queries.row_stride +
                                 l * call.queries.column_stride]} *
                double{t.keys[place(call, call.key_rows, b) + k * call.key_rows.row_stride +
                              l * call.key_rows.column_stride]});
    }
    weights.push_back(call.scale * score.value());
    peak = std::max(peak, weights.back());
    error = std::max(error, std::abs(call.scale) * score.tolerance());
  }
  double sum = 0;
  for (double& one : weights) sum += one = std::exp(one - peak);
  std::vector<Expected> row_of_result(static_cast<std::size_t>(call.columns));
  for (Int j = 0; j < call.columns; ++j) {
    Sum<float> value;
    for (Int k = 0; k < call.keys; ++k) {
      value.add(weights[static_cast<std::size_t>(k)] / sum *
                double{t.values[place(call, call.values, b) + k * call.values.row_stride +
                                j * call.values.column_stride]});
    }
    // Every weight is as wrong as its score is, and its exponential.
    row_of_result[static_cast<std::size_t>(j)] = {
        value.value(), 2 * value.tolerance() + 2 * error + 60 * kEpsilon};
  }
  return row_of_result;
}

void expect_attention(Kernel kernel, const kernels::AttentionCall& call, Tensors& t) {
  Tensor<float> scratch(kernels::attention_scratch_bytes(call) / static_cast<Int>(sizeof(float)),
                        64);
  void* out[] = {t.result.data(), scratch.data()};
  const void* in[] = {&call, t.queries.data(), t.keys.data(), t.values.data()};
  kernel(out, in);
  note_bits(t.result);
  std::vector<bool> written(static_cast<std::size_t>(t.result.size()));
  for (Int b = 0; kComparesValues && b < call.batch; ++b) {
    for (Int i = 0; i < call.rows; ++i) {
      const auto should = expected_row(call, t, b, i);
      for (Int j = 0; j < call.columns; ++j) {
        const Int at = place(call, call.result, b) + i * call.result.row_stride + j;
        const Expected& one = should[static_cast<std::size_t>(j)];
        written[static_cast<std::size_t>(at)] = true;
        ASSERT_NEAR(t.result[at], one.value, one.tolerance)
            << "matrix " << b << ", row " << i << ", column " << j << " of " << call.rows << " x "
            << call.keys << " scores";
      }
    }
  }
  for (Int i = 0; kComparesValues && i < t.result.size(); ++i) {
    ASSERT_TRUE(written[static_cast<std::size_t>(i)] || std::isnan(t.result[i])) << i;
  }
  kernels::AttentionCall shares = call;
  shares.shared = kernels::kEpilogueShared;
  EXPECT_GT(
      expect_the_same_shared(kernel, &call, &shares,
                             {nullptr, t.queries.data(), t.keys.data(), t.values.data(), nullptr},
                             {t.result.data(), scratch.data()}, t.result,
                             static_cast<std::size_t>(kernels::attention_scratch_bytes(call))),
      0);
}

void expect_random_attention(Kernel kernel, Int rows, Int keys, Random& random) {
  kernels::AttentionCall call{};
  call.inner_batch = random.between(1, 3);
  call.batch = call.inner_batch * random.between(1, 2);
  call.rows = rows;
  call.keys = keys;
  call.depth = random.between(1, 40);
  call.columns = random.between(1, 40);
  call.scale = random.one_in(3) ? 1 : random.one_in(2) ? 0.125 : -1.5;
  const auto layout = [&](Int of, Int columns) {
    return Layout{static_cast<Order>(random.between(0, 3)), of, columns, 0};
  };
  const Layout queries = layout(rows, call.depth);
  const Layout key_rows = layout(keys, call.depth);
  const Layout values = layout(keys, call.columns);
  const Layout result = {random.one_in(2) ? Order::kDense : Order::kHeadsInRows, rows, call.columns,
                         random.between(0, 1) * 3};
  call.queries = queries.places(call.inner_batch);
  call.key_rows = key_rows.places(call.inner_batch);
  call.values = values.places(call.inner_batch);
  call.result = result.places(call.inner_batch);
  Tensors t = {Tensor<float>(queries.size(call.batch)), Tensor<float>(key_rows.size(call.batch)),
               Tensor<float>(values.size(call.batch)), Tensor<float>(result.size(call.batch))};
  for (Tensor<float>* one : {&t.queries, &t.keys, &t.values}) random.fill(*one);
  expect_attention(kernel, call, t);
}

TEST_P(Attention, OfAnySizesAndStrides) {
  Random random(1);
  for (int i = 0; i < 60; ++i) {
    const Int rows = random.one_in(4) ? 1 : random.between(1, 130);
    expect_random_attention(GetParam().f32.attention, rows, random.between(1, 150), random);
  }
}

// Few keys, where queries are lanes: blocks of them that are whole and that are not.
TEST_P(Attention, OfAnyNumberOfKeys) {
  Random random(3);
  for (Int keys = 1; keys <= 130; ++keys) {
    expect_random_attention(GetParam().f32.attention, random.between(1, 70), keys, random);
  }
}

// Results for keys of one number, queries of 1, and values that are the keys' places. `bad_query`:
// the place of a query that is NaN; -1: none.
std::vector<float> result_of_keys(Kernel kernel, const std::vector<float>& keys, Int rows,
                                  Int bad_query = -1) {
  kernels::AttentionCall call{};
  call.batch = call.inner_batch = 1;
  call.rows = rows;
  call.keys = static_cast<Int>(keys.size());
  call.depth = 1;
  call.columns = 4;
  call.scale = 4;
  call.queries = call.key_rows = {0, 0, 1, 1};
  call.values = call.result = {0, 0, call.columns, 1};
  Tensor<float> queries(rows), key_rows(call.keys), values(call.keys * 4), result(rows * 4);
  for (Int i = 0; i < rows; ++i) queries[i] = i == bad_query ? std::nanf("") : 1;
  for (Int k = 0; k < call.keys; ++k) {
    key_rows[k] = keys[static_cast<std::size_t>(k)];
    for (Int j = 0; j < 4; ++j) values[k * 4 + j] = static_cast<float>(k);
  }
  Tensor<float> scratch(kernels::attention_scratch_bytes(call) / static_cast<Int>(sizeof(float)),
                        64);
  void* out[] = {result.data(), scratch.data()};
  const void* in[] = {&call, queries.data(), key_rows.data(), values.data()};
  kernel(out, in);
  note_bits(result);
  std::vector<float> first_column;
  for (Int i = 0; i < rows; ++i) first_column.push_back(result[i * 4]);
  return first_column;
}

TEST_P(Attention, TakesNumbersAsASoftmaxDoes) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Int rows : {1, 5, 16, 21, 40}) {
    for (const std::size_t count : {4, 7, 8, 30}) {
      std::vector<float> keys(count, -infinity);
      for (const float one : result_of_keys(GetParam().f32.attention, keys, rows)) {
        EXPECT_TRUE(std::isnan(one)) << one;
      }
      keys[2] = -2;  // all others weigh nothing
      for (const float one : result_of_keys(GetParam().f32.attention, keys, rows))
        EXPECT_EQ(one, 2);
      keys.assign(count, -3e38F);
      keys[1] = 3e38F;  // further from the others than a float can be
      for (const float one : result_of_keys(GetParam().f32.attention, keys, rows))
        EXPECT_EQ(one, 1);
      for (const float bad : {infinity, std::nanf("")}) {
        keys[3] = bad;
        for (const float one : result_of_keys(GetParam().f32.attention, keys, rows)) {
          EXPECT_TRUE(std::isnan(one)) << one;
        }
      }
      keys.assign(count, -1);
      keys[0] = 50;
      const auto with_one = result_of_keys(GetParam().f32.attention, keys, rows, rows / 2);
      for (Int i = 0; i < rows; ++i) {  // no query changes what another one gets
        EXPECT_EQ(std::isnan(with_one[static_cast<std::size_t>(i)]), i == rows / 2) << i;
      }
    }
  }
}

// The rows that are in memory at a time depend on how many keys there are.
TEST_P(Attention, OfManyKeys) {
  Random random(2);
  for (const auto& [rows, keys] : {std::pair<Int, Int>{100, 1000}, {50, 2100}, {25, 6001}}) {
    expect_random_attention(GetParam().f32.attention, rows, keys, random);
  }
}

TEST(AttentionScratch, HoldsScoresOfAFewRows) {
  kernels::AttentionCall call{};
  call.rows = 100000;
  call.depth = call.columns = 64;
  for (const Int keys : {65, 1000, 5000, 100000}) {
    call.keys = keys;
    const Int most = std::max<Int>(448 << 10, 24 * (keys + 32) * 4) + 2 * (keys + 16) * 64 * 4;
    EXPECT_LT(kernels::attention_scratch_bytes(call), most) << keys;
  }
}

}  // namespace
}  // namespace tfaot::kernels_test
