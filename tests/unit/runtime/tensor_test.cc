// SPDX-License-Identifier: Apache-2.0
#include "tfaot/runtime/detail/tensor.h"

#include <gtest/gtest.h>

#include <cstdint>

#include "tfaot/runtime/detail/tensor_block.h"

namespace {

using tfaot::DType;

static_assert(tfaot::Tensor<float>::kRowElements == 1, "rank 0");
static_assert(tfaot::Tensor<float, 2, 3>::kRowElements == 6);
static_assert(tfaot::Tensor<float, 2, 0>::kRowElements == 0);
static_assert(tfaot::Tensor<std::int64_t, 2>::kDType == DType::kInt64);
static_assert(tfaot::TensorList<>::kSize == 0);
static_assert(tfaot::size_of(DType::kBool) == sizeof(bool));
static_assert(tfaot::size_of(tfaot::kDTypeOf<std::int32_t>) == 4);
static_assert(tfaot::size_of(tfaot::kDTypeOf<std::int64_t>) == 8);
static_assert(tfaot::size_of(tfaot::kDTypeOf<double>) == 8);

template <class T>
constexpr bool is_type(DType dtype) {
  return tfaot::kDTypeOf<T> == dtype && tfaot::size_of(dtype) == sizeof(T);
}
static_assert(is_type<bool>(DType::kBool));
static_assert(is_type<std::int8_t>(DType::kInt8));
static_assert(is_type<std::int16_t>(DType::kInt16));
static_assert(is_type<std::int32_t>(DType::kInt32));
static_assert(is_type<std::int64_t>(DType::kInt64));
static_assert(is_type<std::uint8_t>(DType::kUint8));
static_assert(is_type<std::uint16_t>(DType::kUint16));
static_assert(is_type<std::uint32_t>(DType::kUint32));
static_assert(is_type<std::uint64_t>(DType::kUint64));
static_assert(is_type<tfaot::float16>(DType::kFloat16));
static_assert(is_type<tfaot::bfloat16>(DType::kBfloat16));
static_assert(is_type<float>(DType::kFloat32));
static_assert(is_type<double>(DType::kFloat64));

TEST(Tensor, NamesItsTypeAsNumpyDoes) {
  EXPECT_STREQ(tfaot::name_of(DType::kBool), "bool");
  EXPECT_STREQ(tfaot::name_of(DType::kInt8), "int8");
  EXPECT_STREQ(tfaot::name_of(DType::kInt16), "int16");
  EXPECT_STREQ(tfaot::name_of(DType::kInt32), "int32");
  EXPECT_STREQ(tfaot::name_of(DType::kInt64), "int64");
  EXPECT_STREQ(tfaot::name_of(DType::kUint8), "uint8");
  EXPECT_STREQ(tfaot::name_of(DType::kUint16), "uint16");
  EXPECT_STREQ(tfaot::name_of(DType::kUint32), "uint32");
  EXPECT_STREQ(tfaot::name_of(DType::kUint64), "uint64");
  EXPECT_STREQ(tfaot::name_of(DType::kFloat16), "float16");
  EXPECT_STREQ(tfaot::name_of(DType::kBfloat16), "bfloat16");
  EXPECT_STREQ(tfaot::name_of(DType::kFloat32), "float32");
  EXPECT_STREQ(tfaot::name_of(DType::kFloat64), "float64");
}

constexpr tfaot::TensorInfo kInfos[] = {{"a", DType::kFloat32, nullptr, 0, 5},
                                        {"b", DType::kBool, nullptr, 0, 0},
                                        {"c", DType::kFloat64, nullptr, 0, 1}};

TEST(TensorBlock, GivesEachTensorItsZeroedAlignedPlace) {
  const tfaot::TensorBlock block(kInfos, 3, 4);
  const char* a = static_cast<const char*>(block.data(0));
  const char* c = static_cast<const char*>(block.data(2));
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % tfaot::kAlignment, 0U);
  EXPECT_EQ(c - a, 128);  // 4 rows of 5 floats are 80 bytes
  for (int i = 0; i < 128 + 32; ++i) EXPECT_EQ(a[i], 0);
}

TEST(TensorBlock, KeepsItsPlaceWhenMoved) {
  tfaot::TensorBlock block(kInfos, 3, 4);
  void* const place = block.data(2);
  tfaot::TensorBlock moved = std::move(block);
  EXPECT_EQ(moved.data(2), place);
  EXPECT_FALSE(moved.empty());
}

TEST(TensorBlock, MayHoldNothing) {
  EXPECT_TRUE(tfaot::TensorBlock().empty());
  const tfaot::TensorBlock block(kInfos + 1, 1, 4);
  EXPECT_FALSE(block.empty());
  EXPECT_EQ(block.data(0), nullptr);
}

}  // namespace
