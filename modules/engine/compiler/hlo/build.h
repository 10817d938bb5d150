// SPDX-License-Identifier: Apache-2.0
// Short forms that add instructions to a module. Each adds to the computation of its first operand,
// with shapes that are dense and row-major; where the result would be an operand as it is, they
// return the operand. Used by one thread.
#pragma once

#include <memory>
#include <vector>

#include "compiler/hlo/hlo.h"
#include "xla/literal.h"

namespace tfaot::toolkit::engine {

using Instructions = std::vector<HloInstruction*>;

HloInstruction* add_next_to(HloInstruction* other, std::unique_ptr<HloInstruction> made);

// The same elements in other dimensions.
HloInstruction* reshape(HloInstruction* x, absl::Span<const std::int64_t> sizes);
HloInstruction* transpose(HloInstruction* x, absl::Span<const std::int64_t> order);
HloInstruction* reverse(HloInstruction* x, absl::Span<const std::int64_t> dimensions);
HloInstruction* broadcast(HloInstruction* x, absl::Span<const std::int64_t> sizes,
                          absl::Span<const std::int64_t> dimensions);
// Elements [starts, limits) of each dimension, each stride-th of them; no strides: all.
HloInstruction* slice(HloInstruction* x, absl::Span<const std::int64_t> starts,
                      absl::Span<const std::int64_t> limits, Dimensions strides = {});
// `count` elements of one dimension from `first` on, and all of the others.
HloInstruction* slice_along(HloInstruction* x, std::int64_t dimension, std::int64_t first,
                            std::int64_t count);
HloInstruction* concatenate(const Instructions& parts, std::int64_t dimension);
// Appends zeros to the end of one dimension.
HloInstruction* pad_end(HloInstruction* x, std::int64_t dimension, std::int64_t new_size);

// An element of a tuple.
HloInstruction* element_of(HloInstruction* tuple, std::int64_t element);
// A tuple in the computation of its first element.
HloInstruction* tuple_of(const Instructions& elements);
// Elementwise.
HloInstruction* unary(HloOpcode opcode, HloInstruction* x);
inline HloInstruction* negate(HloInstruction* x) { return unary(kNegate, x); }
HloInstruction* binary(HloOpcode opcode, HloInstruction* a, HloInstruction* b);
// With the numbers along one dimension of x, each for all elements at its index.
HloInstruction* binary_along(HloOpcode opcode, HloInstruction* x, HloInstruction* numbers,
                             std::int64_t dimension);
// b alone if a is null.
HloInstruction* accumulate(HloOpcode opcode, HloInstruction* a, HloInstruction* b);
HloInstruction* convert(HloInstruction* x, xla::PrimitiveType type);
HloInstruction* compare(HloInstruction* a, xla::ComparisonDirection direction, HloInstruction* b);
HloInstruction* select(HloInstruction* predicate, HloInstruction* yes, HloInstruction* no);
HloInstruction* clamp(HloInstruction* low, HloInstruction* x, HloInstruction* high);

HloInstruction* constant_next_to(HloInstruction* other, xla::Literal value);
// Counts along one dimension.
HloInstruction* iota_next_to(HloInstruction* other, const xla::Shape& shape,
                             std::int64_t dimension);
// A scalar constant, in the computation of `other`.
HloInstruction* scalar_next_to(HloInstruction* other, xla::PrimitiveType type, double number);
// The number in all elements of a tensor of the type and dimensions of `like`.
HloInstruction* fill_like(HloInstruction* like, double number);
// A constant vector of whole numbers.
HloInstruction* words_next_to(HloInstruction* other, const std::vector<std::int64_t>& words);

// The product of a and b summed over one dimension of each.
HloInstruction* contract(HloInstruction* a, std::int64_t a_dimension, HloInstruction* b,
                         std::int64_t b_dimension, const xla::PrecisionConfig& precision = {});
// Reduces by `opcode`, from `start` on.
HloInstruction* reduce(HloInstruction* x, HloInstruction* start,
                       absl::Span<const std::int64_t> dimensions, HloOpcode opcode);
HloInstruction* reduce(HloInstruction* x, HloInstruction* start,
                       absl::Span<const std::int64_t> dimensions, xla::HloComputation* combine);

// One of the results of a sum, which `value` has, for each of its terms.
HloInstruction* spread_over_terms(HloInstruction* value, const HloInstruction& sum);

// The operation of `one` on other operands, for a result of other dimensions.
HloInstruction* rebuild(const HloInstruction& one, absl::Span<const std::int64_t> sizes,
                        const Instructions& operands);
inline Instructions operands_of(const HloInstruction& one) {
  return {one.operands().begin(), one.operands().end()};
}
// The same on each operand's replacement.
template <typename Replacement>
HloInstruction* rebuild_on(const HloInstruction& one, absl::Span<const std::int64_t> sizes,
                           Replacement replacement) {
  Instructions operands = operands_of(one);
  for (HloInstruction*& operand : operands) operand = replacement(operand);
  return rebuild(one, sizes, operands);
}

// Puts `made`, in the dimensions of `old`, in the place of `old`; null: `old` stays.
Status replace(HloInstruction& old, HloInstruction* made);

}  // namespace tfaot::toolkit::engine
