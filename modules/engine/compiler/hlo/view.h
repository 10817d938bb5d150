// SPDX-License-Identifier: Apache-2.0
// How the elements of a value lie in the memory of a tensor that it has in another order, a part
// of, or several times: kernels read them there, by their strides, instead of a copy. Pure.
#pragma once

#include <optional>
#include <vector>

#include "compiler/hlo/hlo.h"

namespace tfaot::toolkit::engine {

// A dimension, and how far a step along it goes in memory; 0: every index is the same element.
struct Stride {
  std::int64_t size, step;
  bool operator==(const Stride& other) const = default;
};
using Strides = std::vector<Stride>;

// Joins dimensions that are contiguous in memory, and leaves out those of size 1.
Strides merged(absl::Span<const Stride> strides);
// The step of all dimensions taken as one; nothing if they have no common step.
std::optional<std::int64_t> step_of(absl::Span<const Stride> strides);
std::int64_t elements_of(absl::Span<const Stride> strides);
// Those of these dimensions.
Strides picked(const Strides& strides, absl::Span<const std::int64_t> dimensions);

struct View {
  HloInstruction* tensor;  // in memory; null: it does not matter which
  Strides strides;
  std::int64_t offset = 0;  // of the first element

  Dimensions sizes() const;
  // The same elements in the memory of the operand of a reshape, transpose, broadcast or slice.
  // Nothing if the tensor is made by another operation, or they have no such strides there.
  std::optional<View> before() const;
  // The same elements, in their order, in dimensions of these sizes; nothing: it takes a copy.
  std::optional<View> reshaped(absl::Span<const std::int64_t> wanted) const;
};

// The elements as they lie.
View view_of(HloInstruction* tensor);
// All elements of the result, in the memory of the operand: of operations as before() takes.
std::optional<View> view_of_operand(const HloInstruction& one);
// Writes out the elements. REQUIRES: the view has each element of the tensor at least once.
HloInstruction* copied(const View& view);

// The strides, merged, of a broadcast in its operand.
Strides strides_of(const HloInstruction& broadcast);
// Those of a broadcast of a sum's results, each to all of its terms.
Strides strides_over_terms(const HloInstruction& sum);
// The operand of a broadcast that has these strides; null: it spreads in another way, or is none.
HloInstruction* spread_operand(HloInstruction& value, const Strides& strides);

}  // namespace tfaot::toolkit::engine
