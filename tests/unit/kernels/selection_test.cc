// SPDX-License-Identifier: Apache-2.0
// Kernels that find elements and move rows.
#include "tfaot/kernels/selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {
namespace {

using kernels::GatherCall;
using kernels::TopKCall;

class Selection : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, Selection, ::testing::ValuesIn(all_levels()), name_of_level);

// The order as selection.h has it, in the language of numbers. NaNs of one sign are equal here.
template <typename T>
bool is_less(T a, T b, bool is_total) {
  if (!is_total) return a < b || (!std::isnan(a) && std::isnan(b));
  const auto group = [](T x) { return !std::isnan(x) ? 0 : std::signbit(x) ? -1 : 1; };
  if (group(a) != 0 || group(b) != 0) return group(a) < group(b);
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

// Few values, so that many are equal, and all kinds of numbers. All NaNs of a sign are the same.
template <typename T>
T random_element(Random& random, Int values) {
  using Limits = std::numeric_limits<T>;
  const T special[] = {Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       -Limits::quiet_NaN(),
                       T{0},
                       -T{0},
                       Limits::denorm_min(),
                       Limits::max(),
                       Limits::lowest()};
  if (random.one_in(5)) return special[random.between(0, std::size(special) - 1)];
  return static_cast<T>(random.between(-values, values)) / 8;
}

template <typename T>
bool has_same_bits(T a, T b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

enum class Elements { kAny, kRising, kFalling };

template <typename T>
void check_top_k(Kernel kernel, const TopKCall& c, Elements elements, Random& random) {
  SCOPED_TRACE(std::to_string(c.count) + " of " + std::to_string(c.rows) + " x " +
               std::to_string(c.size) + ", order " + std::to_string(c.order));
  Tensor<T> x(c.rows * c.size);
  Tensor<T> values(c.rows * c.count);
  Tensor<float> places(c.rows * c.count);
  Tensor<T> scratch(kernels::top_k_scratch_bytes(c, sizeof(T)) / static_cast<Int>(sizeof(T)), 64);
  const Int different = random.one_in(2) ? 4 : 4 * c.size;
  for (Int i = 0; i < x.size(); ++i) x[i] = random_element<T>(random, different);
  const bool is_total = (c.order & kernels::kTopKTotalOrder) != 0;
  const bool is_descending = (c.order & kernels::kTopKDescending) != 0;
  const auto is_before = [=](T a, T b) {
    return is_descending ? is_less(b, a, is_total) : is_less(a, b, is_total);
  };
  if (elements != Elements::kAny) {
    std::sort(x.data(), x.data() + x.size(), is_before);
    if (elements == Elements::kFalling) std::reverse(x.data(), x.data() + x.size());
  }
  void* out[] = {values.data(), places.data(), scratch.data()};
  const void* in[] = {&c, x.data()};
  kernel(out, in);

  std::vector<std::int32_t> found(static_cast<std::size_t>(places.size()));
  std::memcpy(found.data(), places.data(), found.size() * sizeof found[0]);
  for (Int row = 0; row < c.rows; ++row) {
    const T* own = x.data() + row * c.size;
    std::vector<std::int32_t> order(static_cast<std::size_t>(c.size));
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return is_before(own[a], own[b]); });
    for (Int i = 0; i < c.count; ++i) {
      const std::int32_t wanted = order[static_cast<std::size_t>(i)];
      ASSERT_EQ(found[static_cast<std::size_t>(row * c.count + i)], wanted)
          << "row " << row << ", element " << i;
      ASSERT_TRUE(has_same_bits(values[row * c.count + i], own[wanted]));
    }
  }
}

template <typename T>
void check_random_top_k(Kernel kernel, std::uint32_t seed) {
  Random random(seed);
  const Int sizes[] = {20, 70, 220, 1500};
  for (Int i = 0; i < 600 && !::testing::Test::HasFailure(); ++i) {
    TopKCall call = {};
    call.rows = random.between(1, 3);
    call.size = random.between(1, sizes[random.between(0, 3)]);
    call.count = random.between(1, random.one_in(3) ? call.size : std::min<Int>(call.size, 40));
    call.order = random.between(0, 3);
    const Elements kinds[] = {Elements::kAny, Elements::kRising, Elements::kFalling};
    check_top_k<T>(kernel, call, kinds[random.one_in(3) ? random.between(1, 2) : 0], random);
  }
}

TEST_P(Selection, FindsTheFirstElementsInOrder) {
  check_random_top_k<float>(kernels<float>().top_k, 1);
  check_random_top_k<double>(kernels<double>().top_k, 2);
}

template <typename T, typename Place>
void check_gather(Kernel kernel, Random& random) {
  GatherCall c = {};
  c.rows = random.between(1, 12);
  c.x_rows = random.between(1, 9);
  c.row_elements = random.between(1, random.one_in(2) ? 100 : 5);
  c.place_bytes = sizeof(Place);
  Tensor<T> x(c.x_rows * c.row_elements);
  Tensor<T> result(c.rows * c.row_elements);
  std::vector<Place> places;
  random.fill(x);
  for (Int i = 0; i < c.rows; ++i) {
    const Place far[] = {std::numeric_limits<Place>::min(), std::numeric_limits<Place>::max()};
    places.push_back(random.one_in(8) ? far[random.between(0, 1)]
                                      : static_cast<Place>(random.between(-2, c.x_rows + 1)));
  }
  const void* in[] = {&c, x.data(), places.data()};
  kernel(result.data(), in);
  for (Int at = 0; at < result.size(); ++at) {
    const auto row = static_cast<std::size_t>(at / c.row_elements);
    const Int place = std::clamp<Int>(places[row], 0, c.x_rows - 1);
    ASSERT_EQ(result[at], x[place * c.row_elements + at % c.row_elements]) << "element " << at;
  }
}

TEST_P(Selection, GathersRows) {
  Random random(3);
  for (Int i = 0; i < 200 && !HasFailure(); ++i) {
    check_gather<float, std::int32_t>(kernels<float>().gather, random);
    check_gather<float, std::int64_t>(kernels<float>().gather, random);
    check_gather<double, std::int32_t>(kernels<double>().gather, random);
    check_gather<double, std::int64_t>(kernels<double>().gather, random);
  }
}

}  // namespace
}  // namespace tfaot::kernels_test
