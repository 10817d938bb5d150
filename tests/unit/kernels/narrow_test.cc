// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "tests/unit/kernels/levels.h"
#include "tests/unit/kernels/tensors.h"

namespace tfaot::kernels_test {
namespace {

using kernels::NarrowMatMulCall;

class NarrowMatMul : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Levels, NarrowMatMul, ::testing::ValuesIn(all_levels()), name_of_level);

// What an element's bits mean.
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
};

template <typename T>
void check_narrow(Kernel kernel, Rows rows, NarrowMatrix& matrix, bool transposed, Random& random) {
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
  Tensor<float> scratch(kernels::narrow_scratch_bytes(c) / Int{sizeof(float)}, 64);
  random.fill(lhs);
  random.fill(bias);
  random.fill(scale);
  for (std::uint32_t& bits : matrix.bits) bits = random_bits(matrix.type, random);
  pack_narrow(packed.data(), matrix);
  void* out[] = {result.data(), scratch.data()};
  std::vector<const void*> in = {&call, lhs.data(), packed.data()};
  if (matrix.type == kernels::kInt8) in.push_back(scale.data());
  if ((c.epilogue & kernels::kEpilogueBias) != 0) in.push_back(bias.data());
  in.push_back(&rows.live);
  kernel(out, in.data());

  for (Int i = 0; i < result.size(); ++i) {
    const Int b = i / c.columns / c.rows, row = i / c.columns % c.rows, column = i % c.columns;
    if (rows.live >= 0 && row >= rows.live) continue;
    Sum<float> sum;
    for (Int l = 0; l < c.depth; ++l) {
      const double scaled = matrix.type == kernels::kInt8 ? double{scale[column]} : 1;
      sum.add(
          double{lhs[b * c.lhs_batch_stride + row * c.lhs_row_stride + l * c.lhs_depth_stride]} *
          value_of(matrix.type, matrix.at(l, column)) * scaled);
    }
    if ((c.epilogue & kernels::kEpilogueBias) != 0) sum.add(double{bias[column]});
    if ((c.epilogue & kernels::kEpilogueRelu) != 0) sum.relu();
    if ((c.epilogue & kernels::kEpilogueRelu6) == kernels::kEpilogueRelu6) sum.at_most(6);
    ASSERT_NEAR(double{result[i]}, sum.value(), 2 * sum.tolerance()) << "element " << i;
  }
}

void check_narrow(Kernel kernel, Rows rows, Int type, Int depth, Int columns, bool transposed,
                  Random& random) {
  NarrowMatrix matrix = {type, depth, columns};
  if (type == kernels::kInt8)
    return check_narrow<std::uint8_t>(kernel, rows, matrix, transposed, random);
  check_narrow<std::uint16_t>(kernel, rows, matrix, transposed, random);
}

constexpr Int kTypes[] = {kernels::kBfloat16, kernels::kFloat16, kernels::kInt8};

TEST_P(NarrowMatMul, IsThatOfAPlainLoop) {
  Random random(1);
  for (const Int type : kTypes) {
    for (int i = 0; i < 100 && !HasFailure(); ++i) {
      const Int most = random.one_in(3) ? 4 : 75;
      const Rows rows = {random.between(1, 3), random.between(1, most), -1};
      check_narrow(GetParam().narrow_matmul, rows, type, random.between(1, most),
                   random.between(1, 75), random.one_in(4), random);
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
          check_narrow(GetParam().narrow_matmul, {1, rows, -1}, type, depth, columns, false,
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
    check_narrow(GetParam().narrow_matmul, {1, 5, -1}, type, 1500, 100, false, random);
    check_narrow(GetParam().narrow_matmul, {2, 3, -1}, type, 5000, 33, false, random);
  }
}

TEST_P(NarrowMatMul, LeavesOutRowsOfPadding) {
  Random random(4);
  for (const Int type : kTypes) {
    for (Int live = 0; live <= 6; ++live) {
      check_narrow(GetParam().narrow_matmul, {1, 6, live}, type, 37, 20, false, random);
    }
  }
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
      Tensor<float> scratch(kernels::narrow_scratch_bytes(call.product) / Int{sizeof(float)}, 64);
      void* out[] = {result.data(), scratch.data()};
      const void* in[] = {&call, ones.data(), packed.data()};
      GetParam().narrow_matmul(out, in);
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
