// SPDX-License-Identifier: Apache-2.0
// Element types and, for generated classes, the signature as types:
//   using Inputs = tfaot::TensorList<tfaot::Tensor<float, 4>, tfaot::Tensor<std::int64_t, 2, 3>>;
#pragma once

#include <cstddef>
#include <cstdint>

#include "tfaot/runtime/description.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

// The DType of a C++ type; only these five have one.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::kBool;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::kInt32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::kInt64;
};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kFloat32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kFloat64;
};
template <class T>
inline constexpr DType kDTypeOf = DTypeOf<T>::value;

constexpr std::size_t size_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::kBool:
      return 1;
    case DType::kInt32:
    case DType::kFloat32:
      return 4;
    case DType::kInt64:
    case DType::kFloat64:
      return 8;
  }
  return 0;
}

// "float32"
constexpr const char* name_of(DType dtype) noexcept {
  switch (dtype) {
    case DType::kBool:
      return "bool";
    case DType::kInt32:
      return "int32";
    case DType::kInt64:
      return "int64";
    case DType::kFloat32:
      return "float32";
    case DType::kFloat64:
      return "float64";
  }
  return "unknown";
}

constexpr std::size_t row_bytes(const TensorInfo& info) noexcept {
  return info.row_elements * size_of(info.dtype);
}

// One input or output: element type and shape of one row, without the batch dimension.
template <class T, std::int64_t... RowShape>
struct Tensor {
  using Element = T;
  static constexpr DType kDType = kDTypeOf<T>;
  static constexpr std::size_t kRowElements =
      (std::size_t{1} * ... * static_cast<std::size_t>(RowShape));
};

template <class... Tensors>
struct TensorList {
  static constexpr std::size_t kSize = sizeof...(Tensors);
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
