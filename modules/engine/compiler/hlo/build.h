// SPDX-License-Identifier: Apache-2.0
// Short forms that add instructions to a module. Each adds to the computation of its first operand,
// with shapes that are dense and row-major; where the result would be an operand as it is, they
// return the operand. Used by one thread.
#pragma once

#include <memory>
#include <vector>

#include "compiler/hlo/hlo.h"

namespace tfaot::toolkit::engine {

using Instructions = std::vector<xla::HloInstruction*>;

xla::HloInstruction* add_next_to(xla::HloInstruction* other,
                                 std::unique_ptr<xla::HloInstruction> made);

// The same elements in other dimensions.
xla::HloInstruction* reshape(xla::HloInstruction* x, absl::Span<const std::int64_t> sizes);
xla::HloInstruction* transpose(xla::HloInstruction* x, absl::Span<const std::int64_t> order);
xla::HloInstruction* reverse(xla::HloInstruction* x, absl::Span<const std::int64_t> dimensions);
xla::HloInstruction* broadcast(xla::HloInstruction* x, absl::Span<const std::int64_t> sizes,
                               absl::Span<const std::int64_t> dimensions);
// Elements [starts, limits) of each dimension, each stride-th of them; no strides: all.
xla::HloInstruction* slice(xla::HloInstruction* x, absl::Span<const std::int64_t> starts,
                           absl::Span<const std::int64_t> limits, Dimensions strides = {});
// `count` elements of one dimension from `first` on, and all of the others.
xla::HloInstruction* slice_along(xla::HloInstruction* x, std::int64_t dimension, std::int64_t first,
                                 std::int64_t count);
xla::HloInstruction* concatenate(const Instructions& parts, std::int64_t dimension);
// Appends zeros to the end of one dimension.
xla::HloInstruction* pad_end(xla::HloInstruction* x, std::int64_t dimension, std::int64_t new_size);

// An element of a tuple.
xla::HloInstruction* element_of(xla::HloInstruction* tuple, std::int64_t element);
// A tuple in the computation of its first element.
xla::HloInstruction* tuple_of(const Instructions& elements);
// Elementwise.
xla::HloInstruction* unary(xla::HloOpcode opcode, xla::HloInstruction* x);
inline xla::HloInstruction* negate(xla::HloInstruction* x) {
  return unary(xla::HloOpcode::kNegate, x);
}
xla::HloInstruction* binary(xla::HloOpcode opcode, xla::HloInstruction* a, xla::HloInstruction* b);
// b alone if a is null.
xla::HloInstruction* accumulate(xla::HloOpcode opcode, xla::HloInstruction* a,
                                xla::HloInstruction* b);
xla::HloInstruction* convert(xla::HloInstruction* x, xla::PrimitiveType type);
xla::HloInstruction* compare(xla::HloInstruction* a, xla::ComparisonDirection direction,
                             xla::HloInstruction* b);
xla::HloInstruction* select(xla::HloInstruction* predicate, xla::HloInstruction* yes,
                            xla::HloInstruction* no);
xla::HloInstruction* clamp(xla::HloInstruction* low, xla::HloInstruction* x,
                           xla::HloInstruction* high);

// A scalar constant, in the computation of `other`.
xla::HloInstruction* scalar_next_to(xla::HloInstruction* other, xla::PrimitiveType type,
                                    double number);
// The number in all elements of a tensor of the type and dimensions of `like`.
xla::HloInstruction* fill_like(xla::HloInstruction* like, double number);
// A constant vector of whole numbers.
xla::HloInstruction* words_next_to(xla::HloInstruction* other,
                                   const std::vector<std::int64_t>& words);

// The product of a and b summed over one dimension of each.
xla::HloInstruction* contract(xla::HloInstruction* a, std::int64_t a_dimension,
                              xla::HloInstruction* b, std::int64_t b_dimension,
                              const xla::PrecisionConfig& precision = {});
// Reduces by `opcode`, from `start` on.
xla::HloInstruction* reduce(xla::HloInstruction* x, xla::HloInstruction* start,
                            absl::Span<const std::int64_t> dimensions, xla::HloOpcode opcode);

// The operation of `one` on other operands, for a result of other dimensions.
xla::HloInstruction* rebuild(const xla::HloInstruction& one, absl::Span<const std::int64_t> sizes,
                             const Instructions& operands);

// Puts `made`, in the dimensions of `old`, in the place of `old`; null: `old` stays.
Status replace(xla::HloInstruction& old, xla::HloInstruction* made);

}  // namespace tfaot::toolkit::engine
