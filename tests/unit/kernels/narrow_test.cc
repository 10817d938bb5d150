// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/shared_calls.h"
#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {
namespace {

using kernels::NarrowMatMulCall;

class NarrowMatMul : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, NarrowMatMul, ::testing::ValuesIn(all_levels()), name_of_level);

// The number that an element's bits stand for.
double value_of(Int type, std::uint32_t bits) {
  if (type == kernels::kInt8) return static_cast<std::int8_t>(bits);
  if (type == kernels::kBfloat16) {
    const std::uint32_t wide = bits << 16;
    float value = 0;
    std::memcpy(&value, &wide, sizeof value);
    return double{value};
  }
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const auto exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = bits & 1023;
  if (exponent == 31) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  }
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

// Of moderate size; sometimes zero or, of float16, subnormal.
std::uint32_t random_bits(Int type, Random& random) {
  if (type == kernels::kInt8) return static_cast<std::uint32_t>(random.between(-127, 127)) & 0xFF;
  const auto sign = static_cast<std::uint32_t>(random.between(0, 1)) << 15;
  if (random.one_in(8)) return sign;
  if (type == kernels::kBfloat16) {
    return sign | static_cast<std::uint32_t>(random.between(0x3C00, 0x3FFF));
  }
  return sign | static_cast<std::uint32_t>(random.one_in(8) ? random.between(1, 0x3FF)
                                                            : random.between(0x2C00, 0x3FFF));
}

struct NarrowMatrix {
  std::uint32_t& at(Int l, Int j) { return bits[static_cast<std::size_t>(l * columns + j)]; }

  Int type, depth, columns;
  std::vector<std::uint32_t> bits =
      std::vector<std::uint32_t>(static_cast<std::size_t>(depth * columns));
};

// [panels, groups, panel columns, group]
template <typename T>
void pack_narrow(T* to, NarrowMatrix& matrix) {
  const Int group = kernels::narrow_group(matrix.type);
  const Int width = kernels::panel_columns(sizeof(float));
  for (Int p = 0; p < kernels::panel_count(matrix.columns, sizeof(float)); ++p) {
    for (Int first = 0; first < matrix.depth; first += group) {
      for (Int j = p * width; j < (p + 1) * width; ++j) {
        for (Int l = first; l < first + group; ++l) {
          *to++ = l < matrix.depth && j < matrix.columns ? static_cast<T>(matrix.at(l, j)) : T{0};
        }
      }
    }
  }
}

// Of its elements, padded.
template <typename T>
Int packed_size(const NarrowMatrix& matrix) {
  const Int group = kernels::narrow_group(matrix.type);
  return kernels::panel_count(matrix.columns, sizeof(float)) *
         ((matrix.depth + group - 1) / group * group) * kernels::panel_columns(sizeof(float));
}

struct Rows {
  Int batch, rows, live;  // live < 0: all
  bool are_shared = false;
};

// Returns how often pieces were handed out.
template <typename T>
int check_narrow(Kernel kernel, Rows rows, NarrowMatrix& matrix, bool transposed, Random& random) {
  NarrowMatMulCall call = {};
  call.rhs_type = matrix.type;
  kernels::MatMulCall& c = call.product;
  c.batch = rows.batch;
  c.rows = rows.rows;
  c.columns = matrix.columns;
  c.depth = matrix.depth;
  c.lhs_row_stride = transposed ? 1 : c.depth + 3;
  c.lhs_depth_stride = transposed ? c.rows : 1;
  c.lhs_batch_stride = c.rows * (c.depth + 3);
  c.rhs_packed = 1;
  c.epilogue = random_epilogue(random);
  c.live_rows = rows.live < 0 ? 0 : 1;
  SCOPED_TRACE(::testing::Message() << "type " << matrix.type << ", " << c.batch << " x " << c.rows
                                    << " x " << c.columns << ", depth " << c.depth);
  Tensor<float> lhs(c.batch * c.lhs_batch_stride), bias(c.columns), scale(c.columns);
  Tensor<T> packed(packed_size<T>(matrix), 64);
  Tensor<float> result(c.batch * c.rows * c.columns);
  Tensor<float> scratch(kernels::narrow_scratch_bytes(call) / Int{sizeof(float)}, 64);
  random.fill(lhs);
  random.fill(bias);
  random.fill(scale);
  for (std::uint32_t& bits : matrix.bits) bits = random_bits(matrix.type, random);
  pack_narrow(packed.data(), matrix);
  void* out[] = {result.data(), scratch.data()};
  std::vector<const void*> in = {&call, lhs.data(), packed.data()};
  if (matrix.type == kernels::kInt8) in.push_back(scale.data());
  if ((c.epilogue & kernels::kEpilogueBias) != 0) in.push_back(bias.data());
  if (c.live_rows != 0) in.push_back(&rows.live);
  in.push_back(nullptr);
  kernel(out, in.data());
  note_bits(result);
  NarrowMatMulCall shares = call;
  shares.product.epilogue |= kernels::kEpilogueShared;
  const int handed_out =
      rows.are_shared
          ? expect_the_same_shared(kernel, &call, &shares, in, out, result,
                                   static_cast<std::size_t>(kernels::narrow_scratch_bytes(call)))
          : 0;

  for (Int i = 0; kComparesValues && i < result.size(); ++i) {
    const Int b = i / c.columns / c.rows, row = i / c.columns % c.rows, column = i % c.columns;
    if (rows.live >= 0 && row >= rows.live) continue;
    Sum<float> sum;
    double largest = 0, weights = 0;
    for (Int l = 0; l < c.depth; ++l) {
      const double scaled = matrix.type == kernels::kInt8 ? double{scale[column]} : 1;
      const double x =
          double{lhs[b * c.lhs_batch_stride + row * c.lhs_row_stride + l * c.lhs_depth_stride]};
      const double weight = value_of(matrix.type, matrix.at(l, column)) * scaled;
      sum.add(x * weight);
      largest = std::fmax(largest, std::abs(x));
      weights += std::abs(weight);
    }
    // Rows may be rounded to whole numbers of 16 bits.
    const double rounding = matrix.type == kernels::kInt8 ? weights * largest / 32767 / 2 : 0;
    if ((c.epilogue & kernels::kEpilogueBias) != 0) sum.add(double{bias[column]});
    if ((c.epilogue & kernels::kEpilogueRelu) != 0) sum.relu();
    if ((c.epilogue & kernels::kEpilogueRelu6) == kernels::kEpilogueRelu6) sum.at_most(6);
    EXPECT_NEAR(double{result[i]}, sum.value(), 2 * sum.tolerance() + rounding) << "element " << i;
    if (::testing::Test::HasFailure()) break;
  }
  return handed_out;
}

int check_narrow(Kernel kernel, Rows rows, Int type, Int depth, Int columns, bool transposed,
                 Random& random) {
  NarrowMatrix matrix = {type, depth, columns};
  if (type == kernels::kInt8)
    return check_narrow<std::uint8_t>(kernel, rows, matrix, transposed, random);
  return check_narrow<std::uint16_t>(kernel, rows, matrix, transposed, random);
}

constexpr Int kTypes[] = {kernels::kBfloat16, kernels::kFloat16, kernels::kInt8};

TEST_P(NarrowMatMul, IsThatOfAPlainLoop) {
  Random random(1);
  for (const Int type : kTypes) {
    for (int i = 0; i < 100 && !HasFailure(); ++i) {
      const Int most = random.one_in(3) ? 4 : 75;
      const Rows rows = {random.between(1, 3), random.between(1, most), -1};
      const Int depth = random.between(1, most), columns = random.between(1, 75);
      const bool transposed = random.one_in(4);
      check_narrow(GetParam().f32.narrow_matmul, rows, type, depth, columns, transposed, random);
    }
  }
}

// One and two rows by every number of columns and every end of a group.
TEST_P(NarrowMatMul, OfFewRowsIsRight) {
  Random random(2);
  for (const Int type : kTypes) {
    for (Int rows = 1; rows <= 3; ++rows) {
      for (const Int columns : {1, 7, 8, 15, 16, 17, 31, 32, 40}) {
        for (Int depth = 1; depth <= 21 && !HasFailure(); ++depth) {
          check_narrow(GetParam().f32.narrow_matmul, {1, rows, -1}, type, depth, columns, false,
                       random);
        }
      }
    }
  }
}

// More panels than are widened at a time.
TEST_P(NarrowMatMul, IsRightWhenItIsCutIntoBlocks) {
  Random random(3);
  for (const Int type : kTypes) {
    check_narrow(GetParam().f32.narrow_matmul, {1, 5, -1}, type, 1500, 100, false, random);
    check_narrow(GetParam().f32.narrow_matmul, {2, 3, -1}, type, 5000, 33, false, random);
  }
}

TEST_P(NarrowMatMul, LeavesOutRowsOfPadding) {
  Random random(4);
  for (const Int type : kTypes) {
    for (Int live = 0; live <= 6; ++live) {
      check_narrow(GetParam().f32.narrow_matmul, {1, 6, live}, type, 37, 20, false, random);
    }
  }
}

// One row, some, and more than meet weights as they are stored; a last panel that is not whole.
TEST_P(NarrowMatMul, SharesItsWorkWithoutAnotherResult) {
  Random random(5);
  const Kernel kernel = GetParam().f32.narrow_matmul;
  for (const Int type : kTypes) {
    EXPECT_GT(check_narrow(kernel, {1, 1, -1, true}, type, 1000, 600, false, random), 0);
    EXPECT_GT(check_narrow(kernel, {2, 5, -1, true}, type, 130, 451, false, random), 0);
    EXPECT_GT(check_narrow(kernel, {1, 70, 66, true}, type, 61, 300, false, random), 0);
    EXPECT_GT(check_narrow(kernel, {1, 40, -1, true}, type, 61, 300, true, random), 0);
    EXPECT_EQ(check_narrow(kernel, {1, 1, -1, true}, type, 30, 300, false, random), 0);
  }
}

// An int8 product without an epilogue; results are [rows, columns].
std::vector<float> int8_product(Kernel kernel, const std::vector<float>& lhs, NarrowMatrix& matrix,
                                const std::vector<float>& scale) {
  NarrowMatMulCall call = {};
  call.rhs_type = kernels::kInt8;
  kernels::MatMulCall& c = call.product;
  c.batch = c.rhs_packed = c.lhs_depth_stride = 1;
  c.rows = static_cast<Int>(lhs.size()) / matrix.depth;
  c.columns = matrix.columns;
  c.depth = c.lhs_row_stride = matrix.depth;
  Tensor<std::uint8_t> packed(packed_size<std::uint8_t>(matrix), 64);
  pack_narrow(packed.data(), matrix);
  Tensor<float> scratch(kernels::narrow_scratch_bytes(call) / Int{sizeof(float)}, 64);
  std::vector<float> result(static_cast<std::size_t>(c.rows * c.columns));
  void* out[] = {result.data(), scratch.data()};
  const void* in[] = {&call, lhs.data(), packed.data(), scale.data()};
  kernel(out, in);
  return result;
}

// The largest sums that there are.
// Many rows are multiplied after the weights are widened, few while they are.
TEST_P(NarrowMatMul, RowsAloneHaveTheBitsOfMany) {
  constexpr Int kRows = 40;
  Random random(7);
  for (const Int type : {Int{kernels::kBfloat16}, Int{kernels::kFloat16}}) {
    for (const Int columns : {5, 20, 300}) {
      NarrowMatrix matrix = {type, 37, columns};
      for (std::uint32_t& bits : matrix.bits) bits = random_bits(type, random);
      Tensor<std::uint16_t> packed(packed_size<std::uint16_t>(matrix), 64);
      pack_narrow(packed.data(), matrix);
      Tensor<float> lhs(kRows * matrix.depth), bias(columns);
      random.fill(lhs);
      random.fill(bias);
      const auto multiply = [&](Int first, Int rows, float* to) {
        NarrowMatMulCall call = {};
        call.rhs_type = type;
        kernels::MatMulCall& c = call.product;
        c.batch = c.rhs_packed = c.lhs_depth_stride = 1;
        c.rows = rows;
        c.columns = columns;
        c.depth = c.lhs_row_stride = matrix.depth;
        c.epilogue = kernels::kEpilogueBias;
        Tensor<float> scratch(kernels::narrow_scratch_bytes(call) / Int{sizeof(float)}, 64);
        void* out[] = {to, scratch.data()};
        const void* in[] = {&call, lhs.data() + first * matrix.depth, packed.data(), bias.data(),
                            nullptr};
        GetParam().f32.narrow_matmul(out, in);
      };
      Tensor<float> many(kRows * columns), alone(kRows * columns);
      multiply(0, kRows, many.data());
      for (Int row = 0; row < kRows; ++row) multiply(row, 1, alone.data() + row * columns);
      EXPECT_EQ(std::memcmp(many.data(), alone.data(),
                            static_cast<std::size_t>(kRows * columns) * sizeof(float)),
                0)
          << "type " << type << ", " << columns << " columns";
    }
  }
}

TEST_P(NarrowMatMul, WholeNumbersDoNotOverflow) {
  for (const Int depth : {1024, 1028, 3000}) {
    NarrowMatrix matrix = {kernels::kInt8, depth, 3};
    for (Int l = 0; l < depth; ++l) {
      matrix.at(l, 0) = 127;
      matrix.at(l, 1) = 256 - 127;
    }
    const std::vector<float> lhs(static_cast<std::size_t>(3 * depth), -2.5F);
    const std::vector<float> result =
        int8_product(GetParam().f32.narrow_matmul, lhs, matrix, {1, 1, 1});
    const double want = -2.5 * 127 * static_cast<double>(depth);
    for (std::size_t i = 0; i < result.size(); i += 3) {
      EXPECT_NEAR(double{result[i]}, want, 1e-5 * -want);
      EXPECT_NEAR(double{result[i + 1]}, -want, 1e-5 * -want);
      EXPECT_EQ(result[i + 2], 0);
    }
  }
}

// The results of float32, next to rows of ordinary numbers.
TEST_P(NarrowMatMul, NotAllRowsCanBeRounded) {
  constexpr Int kDepth = 37, kWidth = 20;
  const float odd[] = {1,         std::numeric_limits<float>::quiet_NaN(),
                       kInfinity, -kInfinity,
                       1e30F,     -3e35F,
                       1e-25F,    1e-38F,
                       0,         1};
  Random random(5);
  for (const Int first : {0, 1, 4}) {
    NarrowMatrix matrix = {kernels::kInt8, kDepth, kWidth};
    for (std::uint32_t& bits : matrix.bits) bits = random_bits(kernels::kInt8, random);
    const Int rows = static_cast<Int>(std::size(odd)) - first;
    Tensor<float> numbers(rows * kDepth);
    random.fill(numbers);
    std::vector<float> lhs(numbers.data(), numbers.data() + numbers.size());
    for (Int r = 0; r < rows; ++r) {
      const float one = odd[first + r];
      const float size = std::isfinite(one) ? one : 1.0F;
      for (Int l = 0; l < kDepth; ++l) lhs[static_cast<std::size_t>(r * kDepth + l)] *= size;
      lhs[static_cast<std::size_t>(r * kDepth + 36 - r)] = one;
    }
    const std::vector<float> scale(kWidth, 0.01F);
    const std::vector<float> result =
        int8_product(GetParam().f32.narrow_matmul, lhs, matrix, scale);
    for (Int i = 0; i < rows * kWidth; ++i) {
      Sum<float> sum;
      double largest = 0;
      for (Int l = 0; l < kDepth; ++l) {
        const double x = double{lhs[static_cast<std::size_t>(i / kWidth * kDepth + l)]};
        sum.add(x * 0.01 * value_of(kernels::kInt8, matrix.at(l, i % kWidth)));
        largest = std::fmax(largest, std::abs(x));
      }
      const double got = double{result[static_cast<std::size_t>(i)]};
      if (std::isnan(sum.value())) {
        EXPECT_TRUE(std::isnan(got)) << i;
      } else if (std::isinf(sum.value())) {
        EXPECT_EQ(got, sum.value()) << i;
      } else {
        EXPECT_NEAR(got, sum.value(), 2 * sum.tolerance() + kDepth * 1.27 * largest / 65534) << i;
      }
    }
  }
}

// Rounding rows loses less than a twentieth of what weights of int8 lose.
TEST_P(NarrowMatMul, RoundingRowsLosesLittle) {
  constexpr Int kDepth = 256, kWidth = 64, kRows = 16;
  Random random(6);
  Tensor<float> weights(kDepth * kWidth), numbers(kRows * kDepth);
  random.fill(weights);
  random.fill(numbers);
  NarrowMatrix matrix = {kernels::kInt8, kDepth, kWidth};
  for (Int i = 0; i < weights.size(); ++i) {
    matrix.bits[static_cast<std::size_t>(i)] =
        static_cast<std::uint32_t>(std::lround(weights[i] * 127)) & 0xFF;
  }
  const std::vector<float> lhs(numbers.data(), numbers.data() + numbers.size());
  const std::vector<float> result = int8_product(GetParam().f32.narrow_matmul, lhs, matrix,
                                                 std::vector<float>(kWidth, 1.0F / 127));
  double of_weights = 0, of_rows = 0;
  for (Int i = 0; i < kRows * kWidth; ++i) {
    double exact = 0, with_int8 = 0;
    for (Int l = 0; l < kDepth; ++l) {
      const double x = double{numbers[i / kWidth * kDepth + l]};
      exact += x * double{weights[l * kWidth + i % kWidth]};
      with_int8 += x * value_of(kernels::kInt8, matrix.at(l, i % kWidth)) / 127;
    }
    of_weights = std::fmax(of_weights, std::abs(with_int8 - exact));
    of_rows = std::fmax(of_rows, std::abs(double{result[static_cast<std::size_t>(i)]} - with_int8));
  }
  EXPECT_LT(of_rows, of_weights / 20);
}

// Each of 65,536 numbers of 16 bits, as weights that are multiplied by one.
TEST_P(NarrowMatMul, EachNumberIsWidenedExactly) {
  for (const Int type : {kernels::kBfloat16, kernels::kFloat16}) {
    for (const Int rows : {1, 3}) {
      NarrowMatrix matrix = {type, 1, 1 << 16};
      for (std::uint32_t i = 0; i < 1 << 16; ++i) matrix.at(0, i) = i;
      Tensor<std::uint16_t> packed(packed_size<std::uint16_t>(matrix), 64);
      pack_narrow(packed.data(), matrix);
      NarrowMatMulCall call = {};
      call.rhs_type = type;
      call.product = {1, rows, 1 << 16, 1, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
      const std::vector<float> ones(static_cast<std::size_t>(rows), 1);
      Tensor<float> result(rows << 16);
      Tensor<float> scratch(kernels::narrow_scratch_bytes(call) / Int{sizeof(float)}, 64);
      void* out[] = {result.data(), scratch.data()};
      const void* in[] = {&call, ones.data(), packed.data()};
      GetParam().f32.narrow_matmul(out, in);
      for (Int i = 0; i < result.size(); ++i) {
        const double value = value_of(type, static_cast<std::uint32_t>(i & 0xFFFF));
        if (std::isnan(value)) {
          ASSERT_TRUE(std::isnan(result[i])) << i;
        } else if (std::abs(value) >= 0x1p-126 || value == 0) {  // smaller ones may count as zero
          ASSERT_EQ(double{result[i]}, value) << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tfaot::kernels_test
