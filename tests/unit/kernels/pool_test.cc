// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/kernels/functions.h"
#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/tensors.h"
#include "tests/unit/kernels/windows.h"

namespace tfaot::kernels_test {
namespace {

using kernels::PoolCall;

class Pool : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, Pool, ::testing::ValuesIn(all_levels()), name_of_level);

PoolCall random_pool(Random& random) {
  PoolCall c = {};
  const bool is_wide = random.one_in(2);
  c.window = is_wide ? wide_window(random) : random_window(random, BaseDilation::kNone);
  c.batch = random.between(1, is_wide ? 1 : 3);
  c.channels = random.between(1, random.one_in(is_wide ? 2 : 5) ? 150 : 20);
  return c;
}

// compare(got, values of the window) for each element of the call's results, one after the other,
// each with its own compare, on random numbers; many of them NaN if `with_nan`.
template <typename T, typename Run, typename Start, typename Meet, typename... Compare>
void check(const Run& kernel, const PoolCall& c, Random& random, bool with_nan, const Start& start,
           const Meet& meet, const Compare&... compare) {
  SCOPED_TRACE("channels " + std::to_string(c.channels) + describe(c.window));
  const Window& w = c.window;
  Tensor<T> input(c.batch * elements(w.in) * c.channels);
  const Int size = c.batch * elements(w.out) * c.channels;
  Tensor<T> result(size * static_cast<Int>(sizeof...(compare)));
  random.fill(input);
  for (Int i = 0; with_nan && i < input.size(); ++i) {
    if (random.one_in(3)) input[i] = std::numeric_limits<T>::quiet_NaN();
    if (random.one_in(20)) input[i] = -std::numeric_limits<T>::infinity();
  }
  const void* in[] = {&c, input.data()};
  kernel(result.data(), in);
  note_bits(result);
  if (!kComparesValues) return;
  for (Int i = 0; i < size; ++i) {
    const Int channel = i % c.channels, position = i / c.channels % elements(w.out);
    const Int image = i / c.channels / elements(w.out);
    auto state = start();
    for_each_tap(w, position, [&](Int /*tap*/, Int pixel) {
      meet(state, double{input[(image * elements(w.in) + pixel) * c.channels + channel]});
    });
    Int at = i - size;
    (compare(double{result[at += size]}, state), ...);
    if (::testing::Test::HasFailure()) FAIL() << "element " << i;
  }
}

template <typename T>
void check_max(Kernel kernel, std::uint32_t seed) {
  Random random(seed);
  for (Int i = 0; i < 120 && !::testing::Test::HasFailure(); ++i) {
    const PoolCall call = random_pool(random);
    check<T>(
        kernel, call, random, random.one_in(2),
        [] { return double{std::numeric_limits<T>::lowest()}; },
        [](double& max, double x) { max = x > max ? x : max; },
        [](double got, double want) { EXPECT_EQ(got, want); });
  }
}

template <typename T>
void check_largest(Kernel kernel, std::uint32_t seed) {
  Random random(seed);
  for (Int i = 0; i < 120 && !::testing::Test::HasFailure(); ++i) {
    const PoolCall call = random_pool(random);
    check<T>(
        kernel, call, random, random.one_in(2),
        [] { return -std::numeric_limits<double>::infinity(); },
        [](double& max, double x) { max = x > max || std::isnan(x) ? x : max; },
        [](double got, double want) {
          EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want)))
              << got << " is not " << want;
        });
  }
}

template <typename T>
struct Extremes {
  double high = std::numeric_limits<T>::lowest();
  double low = std::numeric_limits<T>::max();
};

template <typename T>
void check_range(Kernel kernel, std::uint32_t seed) {
  Random random(seed);
  for (Int i = 0; i < 120 && !::testing::Test::HasFailure(); ++i) {
    const PoolCall call = random_pool(random);
    check<T>(
        kernel, call, random, random.one_in(2), [] { return Extremes<T>(); },
        [](Extremes<T>& seen, double x) {
          seen.high = x > seen.high ? x : seen.high;
          seen.low = x < seen.low ? x : seen.low;
        },
        [](double got, const Extremes<T>& want) { EXPECT_EQ(got, want.high); },
        [](double got, const Extremes<T>& want) { EXPECT_EQ(got, want.low); });
  }
}

// The largest value of the function in a window; with a minus infinity, whose value is NaN, the
// value of the largest number.
struct LargestValue {
  double expected() const {
    const double lowest{std::numeric_limits<float>::lowest()};
    return has_infinity ? function_of(function, largest > lowest ? largest : lowest) : value;
  }
  ResultFunction function;
  double largest = -std::numeric_limits<double>::infinity();
  double value = largest;
  bool has_infinity = false, has_number = false;
};

void check_function(Kernel kernel, kernels::Function kind, std::uint32_t seed) {
  const ResultFunction function{kind, 1, 1};
  Random random(seed);
  for (Int i = 0; i < 120 && !::testing::Test::HasFailure(); ++i) {
    const PoolCall pool = random_pool(random);
    check<float>(
        [&](float* result, const void** in) {
          const kernels::FunctionPoolCall call{pool, function};
          Tensor<float> scratch(kernels::function_pool_scratch_bytes(pool) / Int{sizeof(float)},
                                64);
          void* out[] = {result, scratch.data()};
          const void* operands[] = {&call, in[1]};
          kernel(static_cast<void*>(out), operands);
        },
        pool, random, random.one_in(2), [&] { return LargestValue{function}; },
        [&](LargestValue& seen, double x) {
          if (std::isnan(x)) return;
          seen.has_number = true;
          seen.has_infinity = seen.has_infinity || std::isinf(x);
          seen.largest = x > seen.largest ? x : seen.largest;
          const double y = function_of(function, x);
          seen.value = y > seen.value ? y : seen.value;
        },
        [&](double got, const LargestValue& want) {
          if (!want.has_number) return;
          EXPECT_NEAR(got, want.expected(), error_of(function, 1, 0));
        });
  }
}

template <typename T>
void check_sum(Kernel kernel, std::uint32_t seed) {
  Random random(seed);
  for (Int i = 0; i < 120 && !::testing::Test::HasFailure(); ++i) {
    check<T>(
        kernel, random_pool(random), random, false, [] { return Sum<T>(); },
        [](Sum<T>& sum, double x) { sum.add(x); },
        [](double got, const Sum<T>& want) { EXPECT_NEAR(got, want.value(), want.tolerance()); });
  }
}

// As in TensorFlow: NaN is ignored, and a window of only NaN gives the lowest finite number.
// Whatever fits into a vector of the level: pools have no products, so all levels round alike.
template <typename T>
void check_bits_of_sums() {
  Random random(7);
  for (Int i = 0; i < 200 && !::testing::Test::HasFailure(); ++i) {
    const PoolCall c = random_pool(random);
    Tensor<T> input(c.batch * elements(c.window.in) * c.channels);
    Tensor<T> first(c.batch * elements(c.window.out) * c.channels), other(first.size());
    random.fill(input);
    const void* in[] = {&c, input.data()};
    bool is_first = true;
    for (const Level& level : all_levels()) {
      if (!runs_here(level)) continue;
      Tensor<T>& result = is_first ? first : other;
      (sizeof(T) == sizeof(float) ? level.f32 : level.f64).sum_pool(result.data(), in);
      for (Int j = 0; j < first.size(); ++j) {
        ASSERT_EQ(result[j], first[j])
            << level.name << ", channels " << c.channels << describe(c.window);
      }
      is_first = false;
    }
  }
}

TEST(PoolBits, OfSumsAreTheSameAtEveryLevel) {
  check_bits_of_sums<float>();
  check_bits_of_sums<double>();
}

TEST_P(Pool, TakesTheLargestNumber) {
  check_max<float>(kernels<float>().max_pool, 1);
  check_max<double>(kernels<double>().max_pool, 2);
}

// As reductions do: NaN stays.
TEST_P(Pool, TakesTheLargestOrNan) {
  check_largest<float>(kernels<float>().largest_pool, 7);
  check_largest<double>(kernels<double>().largest_pool, 8);
}

TEST_P(Pool, TakesTheLargestAndTheSmallest) { check_range<float>(kernels<float>().range_pool, 5); }

TEST_P(Pool, TakesTheLargestValueOfAFunction) {
  check_function(GetParam().f32.function_pool, kernels::kFunctionSwish, 9);
  check_function(GetParam().f32.function_pool, kernels::kFunctionGelu, 10);
  check_function(GetParam().f32.function_pool, kernels::kFunctionGeluTanh, 11);
}

TEST_P(Pool, AddsUp) {
  check_sum<float>(kernels<float>().sum_pool, 3);
  check_sum<double>(kernels<double>().sum_pool, 4);
}

}  // namespace
}  // namespace tfaot::kernels_test
