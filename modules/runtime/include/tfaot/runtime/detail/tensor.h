// SPDX-License-Identifier: Apache-2.0
// The signature as types, for generated classes:
//   using Types = tfaot::TensorList<tfaot::Tensor<float, 4>, tfaot::Tensor<std::int64_t, 2, 3>>;
#pragma once

#include <cstddef>
#include <cstdint>

#include "tfaot/runtime/signature.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

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
