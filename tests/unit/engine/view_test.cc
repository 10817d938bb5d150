// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "compiler/hlo/build.h"
#include "compiler/hlo/evaluate.h"
#include "tests/unit/engine/parse_hlo.h"

namespace tfaot::toolkit::engine {
namespace {

class ViewTest : public ::testing::Test {
 protected:
  // 0, 1, 2, ...
  HloInstruction* counted_tensor(const Dimensions& sizes) const {
    xla::Literal numbers(shape_of(xla::S64, sizes));
    std::int64_t next = 0;
    for (std::int64_t& one : numbers.data<std::int64_t>()) one = next++;
    return constant_next_to(module_->entry_computation()->root_instruction(), std::move(numbers));
  }

  static Dimensions numbers_of(const HloInstruction& value) {
    const auto numbers = FixedValues::value(value, xla::S64);
    const auto all = numbers->data<std::int64_t>();
    return {all.begin(), all.end()};
  }

  // What a kernel reads.
  static Dimensions numbers_in(const View& view) {
    const Dimensions memory = numbers_of(*view.tensor);
    Dimensions places = {view.offset};
    for (const Stride& one : view.strides) {
      Dimensions next;
      for (const std::int64_t place : places) {
        for (std::int64_t i = 0; i < one.size; ++i) next.push_back(place + i * one.step);
      }
      places = next;
    }
    return picked(memory, places);
  }

  std::int64_t random(std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution(from, to)(engine_);
  }

  // The same elements in another order, some of them, or each several times.
  HloInstruction* moved(HloInstruction* x) {
    const std::int64_t rank = x->shape().rank();
    Dimensions sizes = dimensions_of(*x);
    const std::int64_t d = random(0, rank - 1);
    switch (random(0, 4)) {
      case 0: {
        Dimensions order = engine::counted(rank);
        std::ranges::shuffle(order, engine_);
        return transpose(x, order);
      }
      case 1:
        sizes.insert(sizes.begin() + d, random(1, 2));
        return broadcast(x, sizes, without(engine::counted(rank + 1), d));
      case 2: {
        const std::int64_t first = random(0, entry(sizes, d) - 1);
        return slice_along(x, d, first, random(1, entry(sizes, d) - first));
      }
      case 3: {  // splits a dimension
        const std::int64_t size = entry(sizes, d);
        entry(sizes, d) = size % 2 == 0 ? 2 : 1;
        sizes.insert(sizes.begin() + d + 1, size / entry(sizes, d));
        return reshape(x, sizes);
      }
      default:  // joins two
        if (d + 1 == rank) return x;
        entry(sizes, d) *= entry(sizes, d + 1);
        return reshape(x, without(sizes, d + 1));
    }
  }

  std::unique_ptr<xla::HloModule> module_ =
      testing::parse_hlo("ENTRY main { ROOT x = f32[] parameter(0) }");
  std::mt19937 engine_{1};
};

TEST_F(ViewTest, HasTheElementsOfTheValue) {
  int whole = 0, parts = 0;
  for (int i = 0; i < 1000; ++i) {
    HloInstruction* const tensor = counted_tensor({2, 3, 1, 4});
    HloInstruction* value = tensor;
    for (std::int64_t count = random(1, 5); count > 0; --count) value = moved(value);
    View view = view_of(value);
    while (const auto before = view.before()) view = *before;
    ++(view.tensor == tensor ? whole : parts);
    ASSERT_EQ(view.sizes(), dimensions_of(*value)) << value->ToString();
    ASSERT_EQ(numbers_in(view), numbers_of(*value)) << value->ToString();
  }
  EXPECT_GT(whole, 500);  // most of them are read where they lie
  EXPECT_GT(parts, 20);   // and some need a copy
}

TEST_F(ViewTest, IsWrittenOut) {
  for (int i = 0; i < 200; ++i) {
    HloInstruction* const tensor = counted_tensor({2, 3, 1, 4});
    Dimensions order = engine::counted(4);
    std::ranges::shuffle(order, engine_);
    View view{tensor, picked(view_of(tensor).strides, order)};
    const std::int64_t place = random(0, 4);
    if (place < 4) view.strides.insert(view.strides.begin() + place, {3, 0});
    HloInstruction* const made = copied(view);
    ASSERT_EQ(dimensions_of(*made), view.sizes());
    ASSERT_EQ(numbers_of(*made), numbers_in(view));
  }
}

TEST_F(ViewTest, JoinsDimensionsThatAreContiguous) {
  EXPECT_EQ(merged({{2, 12}, {1, 5}, {3, 4}, {4, 0}, {2, 0}}), (Strides{{6, 4}, {8, 0}}));
  EXPECT_EQ(step_of({{2, 12}, {3, 4}}), 4);
  EXPECT_FALSE(step_of({{2, 13}, {3, 4}}));
  EXPECT_EQ(step_of({{1, 13}}), 0);
  EXPECT_EQ(elements_of({{2, 13}, {3, 0}}), 6);
}

// Four of the six columns of four rows.
TEST_F(ViewTest, IsReshapedIfNoCopyIsNeeded) {
  const View columns{nullptr, {{4, 6}, {4, 1}}, 1};
  EXPECT_FALSE(columns.reshaped({16}));
  EXPECT_FALSE(columns.reshaped({8, 2}));
  const auto split = columns.reshaped({2, 2, 2, 1, 2});
  ASSERT_TRUE(split);
  EXPECT_EQ(split->strides, (Strides{{2, 12}, {2, 6}, {2, 2}, {1, 2}, {2, 1}}));
  EXPECT_EQ(split->offset, 1);
}

// Steps of one element say nothing, but stay: a call has the same words for all sizes of a batch.
TEST_F(ViewTest, KeepsStepsOfOneElement) {
  const View view{nullptr, {{1, 48}, {1, 0}, {6, 8}}};
  EXPECT_EQ(view.reshaped({1, 1, 6})->strides, view.strides);
  HloInstruction* const tensor = counted_tensor({3, 1, 2});
  EXPECT_EQ(view_of(transpose(tensor, {1, 0, 2})).before()->strides,
            (Strides{{1, 2}, {3, 2}, {2, 1}}));
}

TEST_F(ViewTest, OfNoElements) {
  const View view = view_of(transpose(counted_tensor({2, 0, 3}), {2, 1, 0}));
  EXPECT_EQ(view.before()->sizes(), (Dimensions{3, 0, 2}));
}

TEST_F(ViewTest, OfABroadcast) {
  HloInstruction* const x = counted_tensor({3, 2});
  HloInstruction* const spread = broadcast(x, {3, 4, 2, 5}, {0, 2});
  EXPECT_EQ(strides_of(*spread), (Strides{{3, 2}, {4, 0}, {2, 1}, {5, 0}}));
  EXPECT_EQ(spread_operand(*spread, {{3, 2}, {2, 0}, {2, 0}, {2, 1}, {5, 0}}), x);
  EXPECT_EQ(spread_operand(*spread, {{3, 2}, {4, 0}, {2, 1}}), nullptr);
  HloInstruction* const sum =
      reduce(spread, scalar_next_to(x, xla::S64, 0), {1, 3}, HloOpcode::kAdd);
  EXPECT_EQ(strides_over_terms(*sum), strides_of(*spread));
}

}  // namespace
}  // namespace tfaot::toolkit::engine
