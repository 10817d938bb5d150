// SPDX-License-Identifier: Apache-2.0
// Orders of dimensions, and which dimensions a reshape splits and joins. Pure.
#pragma once

#include <vector>

#include "compiler/hlo/hlo.h"

namespace tfaot::toolkit::engine {

// A result's dimension d is the operand's dimension order[d].
using DimensionOrder = Dimensions;

DimensionOrder inverse_order(absl::Span<const std::int64_t> order);
// The order that sorts.
DimensionOrder sorting_order(absl::Span<const std::int64_t> values);
DimensionOrder order_of(const xla::HloInstruction& transpose);

// Some dimensions of a reshape's operand that become some of its result.
struct ReshapeGroup {
  Dimensions from;
  Dimensions to;
};
std::vector<ReshapeGroup> groups_of(const xla::HloInstruction& reshape);

}  // namespace tfaot::toolkit::engine
