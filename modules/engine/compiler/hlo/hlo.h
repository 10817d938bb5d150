// SPDX-License-Identifier: Apache-2.0
// HLO modules and shapes as all rooms see them: dense and row-major. Used by one thread.
#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tfaot/base/result.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/ir/hlo_module.h"
#include "xla/shape_util.h"

namespace tfaot::toolkit::engine {

using Dimensions = std::vector<std::int64_t>;

inline Error internal_error(const absl::Status& status) {
  return Error::internal(std::string(status.message()));
}
inline Status checked(const absl::Status& status) {
  if (status.ok()) return {};
  return fail(internal_error(status));
}

// For failures of TensorFlow or XLA that are defects of ours.
template <typename T>
Result<T> or_internal(absl::StatusOr<T> made) {
  if (!made.ok()) return fail(internal_error(made.status()));
  return *std::move(made);
}

// With all shapes row-major, so also what comes out of it.
Result<std::unique_ptr<xla::HloModule>> make_module(const xla::HloModuleProto& proto);
// With the layouts that XLA gave it.
Result<std::unique_ptr<xla::HloModule>> module_as_it_is(const xla::HloModuleProto& proto);

inline xla::Shape shape_of(xla::PrimitiveType type, absl::Span<const std::int64_t> dimensions) {
  return xla::ShapeUtil::MakeShapeWithDescendingLayout(type, dimensions);
}

inline Dimensions dimensions_of(const xla::HloInstruction& instruction) {
  return {instruction.shape().dimensions().begin(), instruction.shape().dimensions().end()};
}

// All of a module: operands and called computations come before what uses them.
std::vector<xla::HloInstruction*> instructions_of(const xla::HloModule& module);

inline xla::PrimitiveType type_of(const xla::HloInstruction& value) {
  return value.shape().element_type();
}
std::int64_t elements_of(const xla::HloInstruction& value);  // 0 for tuples
// Of the first result, if it is a tuple.
inline const xla::Shape& first_shape(const xla::HloInstruction& one) {
  return one.shape().IsTuple() ? one.shape().tuple_shapes(0) : one.shape();
}

std::int64_t product(absl::Span<const std::int64_t> sizes);

// The shape with another size of one dimension.
xla::Shape resized(xla::Shape shape, std::int64_t dimension, std::int64_t size);

// An entry of a vector or an array.
template <typename Values>
decltype(auto) entry(Values&& values, std::integral auto place) {
  return std::forward<Values>(values)[static_cast<std::size_t>(place)];
}

// The order that sorts.
Dimensions sorting_order(absl::Span<const std::int64_t> values);
Dimensions order_of(const xla::HloInstruction& transpose);

// Some dimensions of a reshape's operand that become some of its result.
struct ReshapeGroup {
  Dimensions from;
  Dimensions to;
};
std::vector<ReshapeGroup> groups_of(const xla::HloInstruction& reshape);

// Types that kernels of our own take.
constexpr bool has_kernels(xla::PrimitiveType type) { return type == xla::F32 || type == xla::F64; }

}  // namespace tfaot::toolkit::engine
