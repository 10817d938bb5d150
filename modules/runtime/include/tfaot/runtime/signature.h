// SPDX-License-Identifier: Apache-2.0
// The signature of a model: names, element types and shapes of its inputs and outputs, in order.
// Constants that live as long as the library with the model; safe from many threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tfaot/runtime/detail/abi.h"
#include "tfaot/runtime/dtype.h"
#include "tfaot/runtime/free_sizes.h"
#include "tfaot/runtime/span.h"

namespace tfaot {
inline namespace TFAOT_RUNTIME_NAMESPACE {

/// One input or output. Tensors are row-major; the batch dimension comes first and is not part of
/// the shape.
struct TensorInfo {
  const char* name;               ///< the name in the model, such as "serving/x:0"
  DType dtype;                    ///< type of the elements
  const std::int64_t* row_shape;  ///< the `rank` dimensions of one row
  std::size_t rank;               ///< 0: a single number for each row
  std::size_t row_elements;       ///< elements of one row: the product of `row_shape`
  /// By the sizes of the free dimensions, for each of the `rank` dimensions; null: none is free.
  /// `row_shape` and `row_elements` are those of the largest sizes.
  const SizeFormula* free_shape = nullptr;

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
