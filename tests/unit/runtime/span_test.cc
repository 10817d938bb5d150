// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/span.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <type_traits>
#include <vector>

namespace {

using tfaot::Span;

template <class From, class To>
inline constexpr bool converts = std::is_convertible_v<From, To>;

static_assert(converts<std::vector<float>&, Span<float>>);
static_assert(converts<std::vector<float>&, Span<const float>>);
static_assert(converts<const std::vector<float>&, Span<const float>>);
static_assert(converts<std::vector<float>, Span<const float>>);  // an argument lives long enough
static_assert(converts<std::array<float, 3>&, Span<float>>);
static_assert(converts<float (&)[3], Span<float>>);
static_assert(converts<const float (&)[3], Span<const float>>);
static_assert(converts<Span<float>, Span<const float>>);

static_assert(!converts<const std::vector<float>&, Span<float>>, "const stays const");
static_assert(!converts<const float (&)[3], Span<float>>, "const stays const");
static_assert(!converts<Span<const float>, Span<float>>, "const stays const");
static_assert(!converts<std::vector<float>, Span<float>>, "no writing to temporaries");
static_assert(!converts<std::vector<double>&, Span<float>>, "no conversion of elements");
static_assert(!converts<std::vector<int>&, Span<const float>>, "no conversion of elements");
static_assert(!converts<std::vector<bool>&, Span<bool>>, "not contiguous");
static_assert(!converts<std::vector<bool>&, Span<const bool>>, "not contiguous");
static_assert(!converts<float*, Span<float>>, "a pointer has no size");
static_assert(!converts<std::vector<std::vector<float>>&, Span<const float>>, "not contiguous");

TEST(Span, KnowsWhatItIsMadeOf) {
  std::vector<int> values = {1, 2, 3};
  const Span<int> span = values;
  EXPECT_EQ(span.data(), values.data());
  EXPECT_EQ(span.size(), 3U);
  EXPECT_EQ(span[2], 3);
  int sum = 0;
  for (const int value : span) sum += value;
  EXPECT_EQ(sum, 6);
  EXPECT_EQ(Span<const int>(values.data() + 1, 2)[0], 2);
  EXPECT_EQ(Span<int>().size(), 0U);
}

TEST(Span, Writes) {
  std::array<int, 2> values = {1, 2};
  const Span<int> span = values;
  span[1] = 5;
  EXPECT_EQ(values[1], 5);
}

}  // namespace
