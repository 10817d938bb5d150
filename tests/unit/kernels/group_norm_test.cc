// SPDX-License-Identifier: Apache-2.0
// tfaot_group_norm against its formula in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/shared_calls.h"
#include "tests/unit/kernels/tensors.h"
#include "tfaot/kernels/abi.h"

namespace tfaot::kernels_test {
namespace {

class GroupNormKernel : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, GroupNormKernel, ::testing::ValuesIn(all_levels()), name_of_level);

constexpr double kUnit = std::numeric_limits<float>::epsilon();

struct GroupSizes {
  Int batch, points, groups, channels;
  Int all() const { return groups * channels; }
  Int size() const { return batch * points * all(); }
};

// Groups of one channel and of more than a block of vectors has, and each of them with a rest.
std::vector<GroupSizes> group_sizes() {
  std::vector<GroupSizes> sizes;
  for (const auto& [groups, channels] : std::vector<std::pair<Int, Int>>{
           {1, 1}, {3, 1}, {64, 1}, {100, 1}, {8, 4}, {5, 7}, {2, 70}, {3, 200}, {2, 1024}}) {
    for (const Int points : {1, 2, 9, 100})
      sizes.push_back({points % 3 + 1, points, groups, channels});
  }
  sizes.push_back({1, 70'000, 2, 1});
  return sizes;
}

// Compares the kernel's result for x with the formula.
void expect_normalised(Kernel kernel, const GroupSizes& s, const Tensor<float>& x) {
  Random random(7);
  Tensor<float> y(s.size()), scale(s.all()), bias(s.all());
  for (Tensor<float>* one : {&scale, &bias}) random.fill(*one);
  const kernels::GroupNormCall call{s.batch, s.points, s.groups, s.channels, 1e-3};
  const void* in[] = {&call, x.data(), scale.data(), bias.data()};
  kernel(y.data(), in);
  note_bits(y);
  if (!kComparesValues) return;
  const auto count = static_cast<double>(s.points * s.channels);
  for (Int i = 0; i < s.batch * s.groups; ++i) {
    const Int first = i % s.groups * s.channels;
    const Int start = i / s.groups * s.points * s.all() + first;
    const auto at = [&](Int p, Int c) { return start + p * s.all() + c; };
    const auto mean_of = [&](const auto& term) {
      double sum = 0;
      for (Int p = 0; p < s.points; ++p)
        for (Int c = 0; c < s.channels; ++c) sum += term(double{x[at(p, c)]});
      return sum / count;
    };
    const double mean = mean_of([](double v) { return v; });
    const double variance = mean_of([&](double v) { return (v - mean) * (v - mean); });
    const double deviation = std::sqrt(variance + 1e-3);
    for (Int p = 0; p < s.points; ++p) {
      for (Int c = 0; c < s.channels; ++c) {
        const double normal = (x[at(p, c)] - mean) / deviation;
        const double expected = normal * scale[first + c] + bias[first + c];
        ASSERT_NEAR(y[at(p, c)], expected, 4 * kUnit * (2 + std::abs(normal)))
            << s.groups << " groups of " << s.channels << ", " << s.points << " points";
      }
    }
  }
}

TEST_P(GroupNormKernel, Formula) {
  Random random(12);
  for (const GroupSizes& sizes : group_sizes()) {
    Tensor<float> x(sizes.size());
    random.fill(x);
    for (Int i = 0; i < x.size(); ++i) x[i] += 3;
    expect_normalised(GetParam().f32.group_norm, sizes, x);
  }
}

// Each float has an error of a good part of the differences.
TEST_P(GroupNormKernel, FarFromZero) {
  Random random(13);
  for (const GroupSizes& sizes : group_sizes()) {
    Tensor<float> x(sizes.size());
    random.fill(x);
    for (Int i = 0; i < x.size(); ++i) x[i] += i / sizes.all() % 2 == 0 ? 100000.0F : 100003.0F;
    expect_normalised(GetParam().f32.group_norm, sizes, x);
  }
}

// The first number of a group is far from all others.
TEST_P(GroupNormKernel, FirstNumberFarFromOthers) {
  Random random(14);
  for (const GroupSizes& sizes : group_sizes()) {
    Tensor<float> x(sizes.size());
    random.fill(x);
    for (Int i = 0; i < sizes.all(); ++i) x[i] = 3e7F;
    expect_normalised(GetParam().f32.group_norm, sizes, x);
  }
}

// A mean that is rounded would leave a difference, which 1 / sqrt(epsilon) makes large.
TEST_P(GroupNormKernel, EqualNumbersAreTheBias) {
  for (const Int points : {1, 3, 7, 100, 999}) {
    for (const float number : {0.0F, 1.0F, -1.0F, -999.0F, 100000.7F, 1e6F, 0.1F}) {
      Tensor<float> x(points * 21), y(points * 21), scale(21), bias(21);
      for (Int i = 0; i < x.size(); ++i) x[i] = number;
      for (Int c = 0; c < 21; ++c) scale[c] = 2, bias[c] = static_cast<float>(c);
      for (const Int channels : {1, 7}) {
        const kernels::GroupNormCall call{1, points, 21 / channels, channels, 1e-12};
        const void* in[] = {&call, x.data(), scale.data(), bias.data()};
        GetParam().f32.group_norm(y.data(), in);
        note_bits(y);
        for (Int i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], bias[i % 21]) << number;
      }
    }
  }
}

// All of its group is NaN, and nothing else.
TEST_P(GroupNormKernel, NanAndInfinityStayInTheirGroup) {
  constexpr GroupSizes kSizes = {2, 9, 5, 3};
  for (const float number :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    for (const Int point : {0, 4}) {
      Random random(15);
      Tensor<float> x(kSizes.size()), y(kSizes.size()), scale(kSizes.all()), bias(kSizes.all());
      for (Tensor<float>* one : {&x, &scale, &bias}) random.fill(*one);
      x[point * kSizes.all() + 4] = number;  // the second group of the first image
      const kernels::GroupNormCall call{2, 9, 5, 3, 1e-5};
      const void* in[] = {&call, x.data(), scale.data(), bias.data()};
      GetParam().f32.group_norm(y.data(), in);
      note_bits(y);
      for (Int i = 0; i < y.size(); ++i) {
        const Int channel = i % kSizes.all();
        const bool is_in_group = i < kSizes.size() / 2 && channel / 3 == 1;
        ASSERT_EQ(std::isnan(y[i]), is_in_group) << number << ", element " << i;
      }
    }
  }
}

TEST_P(GroupNormKernel, SharesItsWork) {
  Random random(31);
  for (const GroupSizes& s : group_sizes()) {
    Tensor<float> x(s.size()), y(s.size()), scale(s.all()), bias(s.all());
    for (Tensor<float>* one : {&x, &scale, &bias}) random.fill(*one);
    const kernels::GroupNormCall call{s.batch, s.points, s.groups, s.channels, 1e-5};
    kernels::GroupNormCall shares = call;
    shares.shared = kernels::kEpilogueShared;
    std::vector<const void*> in = {nullptr, x.data(), scale.data(), bias.data(), nullptr};
    EXPECT_GT(expect_the_same_shared(GetParam().f32.group_norm, &call, &shares, in, y.data(), y, 0),
              0);
  }
}

}  // namespace
}  // namespace tfaot::kernels_test
