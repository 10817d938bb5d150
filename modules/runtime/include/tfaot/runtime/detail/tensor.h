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

// At these sizes of the `count` free dimensions.
constexpr std::size_t row_elements_at(const TensorInfo& info, const std::int64_t* sizes,
                                      std::size_t count) noexcept {
  if (info.free_shape == nullptr) return info.row_elements;
  std::int64_t elements = 1;
  for (std::size_t d = 0; d < info.rank; ++d) {
    elements *= number_at(info.free_shape[d], sizes, count);
  }
  return static_cast<std::size_t>(elements);
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
