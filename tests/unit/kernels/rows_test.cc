// SPDX-License-Identifier: Apache-2.0
// tfaot_softmax, tfaot_layer_norm, tfaot_row_sum and tfaot_gelu against their formulas in
// double precision.
#include "tfaot/kernels/abi.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/shared_calls.h"
#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {
namespace {

class RowKernels : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, RowKernels, ::testing::ValuesIn(all_levels()), name_of_level);

constexpr double kMostGeluError = 4e-7;  // times |x|, or 5.55 for x < -5.55

// Every length of a row that leaves another rest, and some long ones.
std::vector<Int> lengths() {
  std::vector<Int> all;
  for (Int i = 1; i <= 70; ++i) all.push_back(i);
  for (const Int i : {127, 128, 200, 1000}) all.push_back(i);
  return all;
}

std::vector<double> softmax(const float* x, Int columns, double scale) {
  double peak = -std::numeric_limits<double>::infinity();
  for (Int j = 0; j < columns; ++j) peak = std::max(peak, scale * x[j]);
  std::vector<double> y;
  double sum = 0;
  for (Int j = 0; j < columns; ++j) sum += y.emplace_back(std::exp(scale * x[j] - peak));
  for (double& one : y) one /= sum;
  return y;
}

TEST_P(RowKernels, Softmax) {
  Random random(1);
  for (const Int columns : lengths()) {
    const Int rows = random.between(1, 9);  // also some groups, and a rest
    Tensor<float> x(rows * columns), y(rows * columns);
    random.fill(x);
    for (Int i = 0; i < x.size(); ++i) x[i] *= 20;
    const double scale = random.one_in(3) ? 1 : random.one_in(2) ? 0.125 : -2.5;
    const kernels::SoftmaxCall call{rows, columns, scale};
    const void* in[] = {&call, x.data()};
    GetParam().f32.softmax(y.data(), in);
    note_bits(y);
    for (Int r = 0; r < rows; ++r) {
      const auto should = softmax(x.data() + r * columns, columns, scale);
      for (Int j = 0; j < columns; ++j) {
        const double expected = should[static_cast<std::size_t>(j)];
        // A rounded exponent of up to 100 changes the result by as much.
        ASSERT_NEAR(y[r * columns + j], expected, 60 * kEpsilon * expected + 1.2e-38)
            << columns << " columns, row " << r << ", " << j;
      }
    }
  }
}

TEST_P(RowKernels, SoftmaxOfMaskedAndBrokenRows) {
  constexpr Int kColumns = 37;
  Tensor<float> x(4 * kColumns), y(4 * kColumns);
  for (Int j = 0; j < kColumns; ++j) {
    x[j] = j % 2 == 0 ? 1.0F : -kInfinity;
    x[kColumns + j] = -kInfinity;
    x[2 * kColumns + j] = j == 36 ? kNaN : 1.0F;
    x[3 * kColumns + j] = j == 3 ? 1e38F : -1e38F;
  }
  const kernels::SoftmaxCall call{4, kColumns, 1};
  const void* in[] = {&call, x.data()};
  GetParam().f32.softmax(y.data(), in);
  note_bits(y);
  for (Int j = 0; j < kColumns; ++j) {
    EXPECT_FLOAT_EQ(y[j], j % 2 == 0 ? 1.0F / 19 : 0) << j;
    EXPECT_TRUE(std::isnan(y[kColumns + j])) << j;
    EXPECT_TRUE(std::isnan(y[2 * kColumns + j])) << j;
    EXPECT_EQ(y[3 * kColumns + j], j == 3 ? 1 : 0) << j;
  }
}

// The product with the scale may be rounded for the largest one alone.
TEST_P(RowKernels, SoftmaxOfLargeNumbers) {
  for (const Int columns : {1, 7, 64, 700}) {
    Tensor<float> x(columns), y(columns);
    for (const float large : {1.1e7F, 3.3e20F, -7.7e30F}) {
      for (Int j = 0; j < columns; ++j) x[j] = large;
      const kernels::SoftmaxCall call{1, columns, 0.3};
      const void* in[] = {&call, x.data()};
      GetParam().f32.softmax(y.data(), in);
      note_bits(y);
      for (Int j = 0; j < columns; ++j) {
        const float expected = 1 / static_cast<float>(columns);
        // The rounding of the product is the same in all columns.
        ASSERT_NEAR(y[j], expected, 1e-4F * expected) << columns << " of " << large;
      }
    }
  }
}

TEST_P(RowKernels, LayerNorm) {
  Random random(2);
  for (const Int columns : lengths()) {
    const Int rows = random.between(1, 9);
    Tensor<float> x(rows * columns), y(rows * columns), scale(columns), bias(columns);
    for (Tensor<float>* one : {&x, &scale, &bias}) random.fill(*one);
    for (Int i = 0; i < x.size(); ++i) x[i] += 3;
    const kernels::LayerNormCall call{rows, columns, 1e-3};
    const void* in[] = {&call, x.data(), scale.data(), bias.data()};
    GetParam().f32.layer_norm(y.data(), in);
    note_bits(y);
    for (Int r = 0; r < rows; ++r) {
      double mean = 0, variance = 0;
      for (Int j = 0; j < columns; ++j) mean += double{x[r * columns + j]};
      mean /= static_cast<double>(columns);
      for (Int j = 0; j < columns; ++j) variance += std::pow(x[r * columns + j] - mean, 2);
      const double deviation = std::sqrt(variance / static_cast<double>(columns) + 1e-3);
      for (Int j = 0; j < columns; ++j) {
        const double expected = (x[r * columns + j] - mean) / deviation * scale[j] + bias[j];
        // The mean of numbers up to 4 is rounded, and the deviation divides that.
        ASSERT_NEAR(y[r * columns + j], expected, 8 * kEpsilon / deviation + 8 * kEpsilon)
            << columns << " columns, row " << r << ", " << j;
      }
    }
  }
}

// As padding has them. Equal numbers are their own mean: what is left is the bias.
TEST_P(RowKernels, LayerNormOfEqualNumbers) {
  std::vector<Int> widths = {64, 100, 128, 256, 1000};
  for (Int i = 1; i <= 40; ++i) widths.push_back(i);
  const std::vector<float> numbers = {0, 1, -1, -999, 1e6F, 100000.7F, 0.1F, 54321.1F};
  const auto rows = static_cast<Int>(numbers.size());
  for (const Int columns : widths) {
    Tensor<float> x(rows * columns), y(rows * columns), scale(columns), bias(columns);
    for (Int i = 0; i < x.size(); ++i) x[i] = numbers[static_cast<std::size_t>(i / columns)];
    for (Int j = 0; j < columns; ++j) {
      scale[j] = 1.5F;
      bias[j] = j % 2 == 0 ? 0 : 0.25F;
    }
    const kernels::LayerNormCall call{rows, columns, 1e-5};
    const void* in[] = {&call, x.data(), scale.data(), bias.data()};
    GetParam().f32.layer_norm(y.data(), in);
    note_bits(y);
    for (Int i = 0; i < y.size(); ++i) {
      ASSERT_EQ(y[i], bias[i % columns]) << columns << " columns of " << x[i];
    }
  }
}

// Far from 0, the error of a mean is a good part of these numbers' differences. Every second row.
TEST_P(RowKernels, LayerNormFarFromZero) {
  Random random(5);
  for (const Int columns : {3, 8, 30, 64, 100, 256, 1000}) {
    constexpr Int kRows = 6;
    Tensor<float> x(kRows * columns), y(kRows * columns), scale(columns), bias(columns);
    random.fill(x);
    for (Int j = 0; j < columns; ++j) {
      scale[j] = 1;
      bias[j] = 0;
    }
    for (Int i = 0; i < x.size(); ++i) {
      if (i / columns % 2 == 0) x[i] += 100'000;
    }
    const kernels::LayerNormCall call{kRows, columns, 1e-5};
    const void* in[] = {&call, x.data(), scale.data(), bias.data()};
    GetParam().f32.layer_norm(y.data(), in);
    note_bits(y);
    for (Int r = 0; r < kRows; ++r) {
      const float* row = x.data() + r * columns;
      double mean = 0, variance = 0;
      for (Int j = 0; j < columns; ++j) mean += double{row[j]} / static_cast<double>(columns);
      for (Int j = 0; j < columns; ++j) variance += std::pow(row[j] - mean, 2);
      const double deviation = std::sqrt(variance / static_cast<double>(columns) + 1e-5);
      for (Int j = 0; j < columns; ++j) {
        const double expected = (row[j] - mean) / deviation;
        ASSERT_NEAR(y[r * columns + j], expected, 32 * kEpsilon) << columns << ", row " << r;
      }
    }
  }
}

TEST_P(RowKernels, RowSum) {
  Random random(3);
  for (const Int columns : lengths()) {
    for (const Int form : {kernels::kRowSumOfNumbers, kernels::kRowSumOfSquares,
                           kernels::kRowSumOfSquaredDifferences}) {
      const Int rows = random.between(1, 4);
      Tensor<float> x(rows * columns), y(rows * columns), sums(rows);
      random.fill(x);
      random.fill(y);
      const kernels::RowSumCall call{rows, columns, form};
      const void* in[] = {&call, x.data(), y.data()};
      GetParam().f32.row_sum(sums.data(), in);
      note_bits(sums);
      for (Int r = 0; r < rows; ++r) {
        Sum<float> sum;
        for (Int j = r * columns; j < (r + 1) * columns; ++j) {
          const double a = x[j];
          const double b = y[j];
          sum.add(form == kernels::kRowSumOfNumbers   ? a
                  : form == kernels::kRowSumOfSquares ? a * a
                                                      : (a - b) * (a - b));
        }
        ASSERT_NEAR(sums[r], sum.value(), sum.tolerance()) << columns << " columns, row " << r;
      }
    }
  }
}

double gelu(double x, kernels::GeluForm form) {
  if (form == kernels::kGeluErf) return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
  const double inner = std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
  return x / (1 + std::exp(-2 * inner));
}
constexpr kernels::GeluForm kGeluForms[] = {kernels::kGeluErf, kernels::kGeluTanh};

TEST_P(RowKernels, GeluOfAllFloats) {
  const auto floats = some_of_all_floats();
  const auto size = static_cast<Int>(floats.size());
  Tensor<float> x(size), y(size);
  std::copy(floats.begin(), floats.end(), x.data());
  for (const auto form : kGeluForms) {
    const kernels::GeluCall call{size, form};
    const void* in[] = {&call, x.data()};
    GetParam().f32.gelu(y.data(), in);
    note_bits(y);
    double worst = 0;
    for (Int i = 0; i < size; ++i) {
      const double expected = gelu(x[i], form);
      const double unit = x[i] > 0 ? double{x[i]} : std::min(-double{x[i]}, 5.55);
      const double allowed =
          kMostGeluError * unit + double{std::numeric_limits<float>::denorm_min()};
      const double error = std::abs(y[i] - expected);
      worst = std::max(worst, error / allowed);
      ASSERT_LE(error, allowed) << "gelu(" << x[i] << ") = " << y[i] << ", not " << expected;
    }
    RecordProperty("worst" + std::to_string(form), std::to_string(worst));
  }
}

// As the formulas have it: minus infinity times 0 is no number, and far below 0 all is 0.
TEST_P(RowKernels, GeluOfInfinities) {
  const float numbers[] = {kInfinity, -kInfinity, -6, -1e30F, -std::numeric_limits<float>::max()};
  constexpr Int kSize = 19;  // also a part of a vector
  for (const auto form : kGeluForms) {
    for (const float number : numbers) {
      Tensor<float> x(kSize), y(kSize);
      std::fill(x.data(), x.data() + kSize, number);
      const kernels::GeluCall call{kSize, form};
      const void* in[] = {&call, x.data()};
      GetParam().f32.gelu(y.data(), in);
      note_bits(y);
      for (Int i = 0; i < kSize; ++i) {
        if (number == kInfinity) {
          EXPECT_EQ(y[i], kInfinity);
        } else if (number == -kInfinity) {
          EXPECT_TRUE(std::isnan(y[i])) << y[i];
        } else {
          EXPECT_EQ(y[i], 0) << number;
        }
      }
    }
  }
}

TEST_P(RowKernels, GeluOfEveryLength) {
  Random random(4);
  for (const auto form : kGeluForms) {
    for (const Int size : lengths()) {
      Tensor<float> x(size), y(size);
      random.fill(x);
      if (size > 2) x[size / 2] = kNaN;
      const kernels::GeluCall call{size, form};
      const void* in[] = {&call, x.data()};
      GetParam().f32.gelu(y.data(), in);
      note_bits(y);
      for (Int i = 0; i < size; ++i) {
        if (std::isnan(x[i])) {
          EXPECT_TRUE(std::isnan(y[i])) << size;
        } else {
          ASSERT_NEAR(y[i], gelu(x[i], form), 6e-7) << size;
        }
      }
    }
  }
}

// `more`: tensors after x.
template <typename Call>
void expect_shared_rows(Kernel kernel, const Call& call, Tensor<float>& x,
                        const std::vector<const void*>& more, Int results) {
  Call shares = call;
  shares.shared = kernels::kEpilogueShared;
  std::vector<const void*> in = {nullptr, x.data()};
  in.insert(in.end(), more.begin(), more.end());
  in.push_back(nullptr);
  Tensor<float> y(results);
  EXPECT_GT(expect_the_same_shared(kernel, &call, &shares, in, y.data(), y, 0), 0);
}

TEST_P(RowKernels, ShareTheirWork) {
  Random random(31);
  for (const auto& [rows, columns] : std::vector<std::pair<Int, Int>>{
           {1, 40}, {3, 33}, {17, 8}, {23, 16}, {30, 50}, {128, 100}, {50, 384}, {7, 1000}}) {
    const Int size = rows * columns;
    Tensor<float> x(size), other(size), scale(columns), bias(columns);
    for (Tensor<float>* one : {&x, &other, &scale, &bias}) random.fill(*one);
    expect_shared_rows(GetParam().f32.softmax, kernels::SoftmaxCall{rows, columns, 0.25}, x, {},
                       size);
    expect_shared_rows(GetParam().f32.layer_norm, kernels::LayerNormCall{rows, columns, 1e-5}, x,
                       {scale.data(), bias.data()}, size);
    for (const auto form : kGeluForms) {
      expect_shared_rows(GetParam().f32.gelu, kernels::GeluCall{size, form}, x, {}, size);
    }
    for (const Int form : {kernels::kRowSumOfNumbers, kernels::kRowSumOfSquares}) {
      expect_shared_rows(GetParam().f32.row_sum, kernels::RowSumCall{rows, columns, form}, x, {},
                         rows);
    }
    const kernels::RowSumCall differences{rows, columns, kernels::kRowSumOfSquaredDifferences};
    expect_shared_rows(GetParam().f32.row_sum, differences, x, {other.data()}, rows);
  }
}

}  // namespace
}  // namespace tfaot::kernels_test
