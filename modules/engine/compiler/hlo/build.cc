// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/build.h"

#include <algorithm>

#include "xla/literal_util.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {

HloInstruction* add_next_to(HloInstruction* other, std::unique_ptr<HloInstruction> made) {
  return other->parent()->AddInstruction(std::move(made));
}

HloInstruction* reshape(HloInstruction* x, absl::Span<const std::int64_t> sizes) {
  if (x->shape().dimensions() == sizes) return x;
  return add_next_to(x, HloInstruction::CreateReshape(shape_of(type_of(*x), sizes), x));
}

HloInstruction* transpose(HloInstruction* x, absl::Span<const std::int64_t> order) {
  if (std::ranges::is_sorted(order)) return x;
  const Dimensions sizes = picked(x->shape().dimensions(), order);
  return add_next_to(x, HloInstruction::CreateTranspose(shape_of(type_of(*x), sizes), x, order));
}

HloInstruction* reverse(HloInstruction* x, absl::Span<const std::int64_t> dimensions) {
  if (dimensions.empty()) return x;
  return add_next_to(x, HloInstruction::CreateReverse(x->shape(), x, dimensions));
}

HloInstruction* broadcast(HloInstruction* x, absl::Span<const std::int64_t> sizes,
                          absl::Span<const std::int64_t> dimensions) {
  return add_next_to(x,
                     HloInstruction::CreateBroadcast(shape_of(type_of(*x), sizes), x, dimensions));
}

HloInstruction* slice(HloInstruction* x, absl::Span<const std::int64_t> starts,
                      absl::Span<const std::int64_t> limits, Dimensions strides) {
  if (strides.empty()) strides.assign(starts.size(), 1);
  Dimensions sizes;
  for (std::size_t d = 0; d < starts.size(); ++d) {
    sizes.push_back((limits[d] - starts[d] + strides[d] - 1) / strides[d]);
  }
  return add_next_to(
      x, HloInstruction::CreateSlice(shape_of(type_of(*x), sizes), x, starts, limits, strides));
}

HloInstruction* slice_along(HloInstruction* x, std::int64_t dimension, std::int64_t first,
                            std::int64_t count) {
  if (size_of(*x, dimension) == count) return x;
  Dimensions limits = dimensions_of(*x);
  Dimensions starts(limits.size(), 0);
  entry(starts, dimension) = first;
  entry(limits, dimension) = first + count;
  return slice(x, starts, limits);
}

HloInstruction* concatenate(const Instructions& parts, std::int64_t dimension) {
  if (parts.size() == 1) return parts.front();
  std::int64_t size = 0;
  for (const auto* part : parts) size += size_of(*part, dimension);
  return add_next_to(parts.front(),
                     HloInstruction::CreateConcatenate(
                         resized(parts.front()->shape(), dimension, size), parts, dimension));
}

HloInstruction* pad_end(HloInstruction* x, std::int64_t dimension, std::int64_t new_size) {
  const std::int64_t more = new_size - size_of(*x, dimension);
  if (more == 0) return x;
  auto config = xla::MakeNoPaddingConfig(x->shape().rank());
  config.mutable_dimensions(static_cast<int>(dimension))->set_edge_padding_high(more);
  HloInstruction* const zero = scalar_next_to(x, type_of(*x), 0);
  return add_next_to(
      x, HloInstruction::CreatePad(resized(x->shape(), dimension, new_size), x, zero, config));
}

HloInstruction* element_of(HloInstruction* tuple, std::int64_t element) {
  return add_next_to(tuple, HloInstruction::CreateGetTupleElement(tuple, element));
}

HloInstruction* tuple_of(const Instructions& elements) {
  return add_next_to(elements.front(), HloInstruction::CreateTuple(elements));
}

HloInstruction* unary(HloOpcode opcode, HloInstruction* x) {
  auto type = type_of(*x);
  if (opcode == kIsFinite) type = xla::PRED;
  if (opcode == kReal || opcode == kImag) type = xla::primitive_util::ComplexComponentType(type);
  const xla::Shape shape = shape_of(type, x->shape().dimensions());
  return add_next_to(x, HloInstruction::CreateUnary(shape, opcode, x));
}

HloInstruction* binary(HloOpcode opcode, HloInstruction* a, HloInstruction* b) {
  return add_next_to(a, HloInstruction::CreateBinary(a->shape(), opcode, a, b));
}

HloInstruction* binary_along(HloOpcode opcode, HloInstruction* x, HloInstruction* numbers,
                             std::int64_t dimension) {
  return binary(opcode, x, broadcast(numbers, x->shape().dimensions(), {dimension}));
}

HloInstruction* accumulate(HloOpcode opcode, HloInstruction* a, HloInstruction* b) {
  return a == nullptr ? b : binary(opcode, a, b);
}

HloInstruction* convert(HloInstruction* x, xla::PrimitiveType type) {
  return add_next_to(x, HloInstruction::CreateConvert(shape_of(type, x->shape().dimensions()), x));
}

HloInstruction* compare(HloInstruction* a, xla::ComparisonDirection direction, HloInstruction* b) {
  return add_next_to(a, HloInstruction::CreateCompare(shape_of(xla::PRED, a->shape().dimensions()),
                                                      a, b, direction));
}

HloInstruction* select(HloInstruction* predicate, HloInstruction* yes, HloInstruction* no) {
  return add_next_to(yes, HloInstruction::CreateTernary(yes->shape(), kSelect, predicate, yes, no));
}

HloInstruction* clamp(HloInstruction* low, HloInstruction* x, HloInstruction* high) {
  return add_next_to(x, HloInstruction::CreateTernary(x->shape(), kClamp, low, x, high));
}

HloInstruction* constant_next_to(HloInstruction* other, xla::Literal value) {
  return add_next_to(other, HloInstruction::CreateConstant(std::move(value)));
}

HloInstruction* iota_next_to(HloInstruction* other, const xla::Shape& shape,
                             std::int64_t dimension) {
  return add_next_to(other, HloInstruction::CreateIota(shape, dimension));
}

HloInstruction* scalar_next_to(HloInstruction* other, xla::PrimitiveType type, double number) {
  return constant_next_to(other, xla::LiteralUtil::CreateR0(number).Convert(type).value());
}

HloInstruction* fill_like(HloInstruction* like, double number) {
  return broadcast(scalar_next_to(like, type_of(*like), number), like->shape().dimensions(), {});
}

HloInstruction* words_next_to(HloInstruction* other, const std::vector<std::int64_t>& words) {
  return constant_next_to(other, xla::LiteralUtil::CreateR1<std::int64_t>(words));
}

HloInstruction* contract(HloInstruction* a, std::int64_t a_dimension, HloInstruction* b,
                         std::int64_t b_dimension, const xla::PrecisionConfig& precision) {
  xla::DotDimensionNumbers numbers;
  numbers.add_lhs_contracting_dimensions(a_dimension);
  numbers.add_rhs_contracting_dimensions(b_dimension);
  const Dimensions sizes = joined({without(a->shape().dimensions(), a_dimension),
                                   without(b->shape().dimensions(), b_dimension)});
  return add_next_to(
      a, HloInstruction::CreateDot(shape_of(type_of(*a), sizes), a, b, numbers, precision));
}

HloInstruction* reduce(HloInstruction* x, HloInstruction* start,
                       absl::Span<const std::int64_t> dimensions, HloOpcode opcode) {
  const xla::Shape number = shape_of(type_of(*x), {});
  xla::HloComputation::Builder builder("reduced");
  HloInstruction* const a = builder.AddInstruction(HloInstruction::CreateParameter(0, number, "a"));
  HloInstruction* const b = builder.AddInstruction(HloInstruction::CreateParameter(1, number, "b"));
  builder.AddInstruction(HloInstruction::CreateBinary(number, opcode, a, b));
  return reduce(x, start, dimensions, x->GetModule()->AddEmbeddedComputation(builder.Build()));
}

HloInstruction* reduce(HloInstruction* x, HloInstruction* start,
                       absl::Span<const std::int64_t> dimensions, xla::HloComputation* combine) {
  const xla::Shape shape = xla::ShapeUtil::DeleteDimensions(dimensions, x->shape());
  return add_next_to(x, HloInstruction::CreateReduce(shape, x, start, dimensions, combine));
}

HloInstruction* spread_over_terms(HloInstruction* value, const HloInstruction& sum) {
  return broadcast(reshape(value, dimensions_of(sum)), dimensions_of(*sum.operand(0)),
                   other_dimensions(sum.operand(0)->shape().rank(), sum.dimensions()));
}

HloInstruction* rebuild(const HloInstruction& one, absl::Span<const std::int64_t> sizes,
                        const Instructions& operands) {
  return add_next_to(operands.front(),
                     one.CloneWithNewOperands(shape_of(type_of(one), sizes), operands));
}

Status replace(HloInstruction& old, HloInstruction* made) {
  if (made == nullptr) return {};
  return checked(old.ReplaceAllUsesWith(reshape(made, old.shape().dimensions())));
}

}  // namespace tfaot::toolkit::engine
