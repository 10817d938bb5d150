// SPDX-License-Identifier: Apache-2.0
// The signature of a model: names, element types and shapes of its inputs and outputs, in order.
// Constants that live as long as the library with the model; safe from many threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tfaot/runtime/detail/abi.h"
#include "tfaot/runtime/span.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// The type of a tensor's elements.
enum class DType : std::uint8_t {
  kBool,     ///< `bool`
  kInt32,    ///< `std::int32_t`
  kInt64,    ///< `std::int64_t`
  kFloat32,  ///< `float`
  kFloat64   ///< `double`
};

/// Bytes of one element.
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

/// The name as in configs and messages, such as "float32".
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

/// One input or output. Tensors are row-major; the batch dimension comes first and is not part of
/// the shape.
struct TensorInfo {
  const char* name;               ///< the name in the model, such as "serving/x:0"
  DType dtype;                    ///< type of the elements
  const std::int64_t* row_shape;  ///< the `rank` dimensions of one row
  std::size_t rank;               ///< 0: a single number for each row
  std::size_t row_elements;       ///< elements of one row: the product of `row_shape`

  /// The dimensions of one row; empty if it is a single number.
  constexpr Span<const std::int64_t> shape() const noexcept { return {row_shape, rank}; }
};

/// The inputs and outputs of a model, in order: the order of tfaot::inputs() and of the members of
/// the model's `Inputs`.
struct Signature {
  Span<const TensorInfo> inputs;   ///< what run() takes
  Span<const TensorInfo> outputs;  ///< what run() writes
};

}  // namespace TFAOT_RUNTIME_NAMESPACE
}  // namespace tfaot
