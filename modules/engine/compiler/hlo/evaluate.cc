// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/evaluate.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/algorithm/container.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

// Elements of a box: `sizes` of them, with these distances (in elements) in source and destination.
struct Box {
  Dimensions sizes, from_strides, to_strides;
  std::int64_t from_start = 0, to_start = 0;
};

Dimensions row_major_strides(const xla::Shape& shape) {
  Dimensions strides;
  for (std::int64_t d = 0; d < shape.rank(); ++d) strides.push_back(stride_along(shape, d));
  return strides;
}

template <typename T>
void copy_dimension(const Box& box, std::size_t d, const T* from, T* to) {
  const std::int64_t from_step = box.from_strides[d];
  const std::int64_t to_step = box.to_strides[d];
  if (d + 1 < box.sizes.size()) {
    for (std::int64_t i = 0; i < box.sizes[d]; ++i) {
      copy_dimension(box, d + 1, from + i * from_step, to + i * to_step);
    }
    return;
  }
  if (from_step == 1 && to_step == 1) {
    std::memcpy(to, from, static_cast<std::size_t>(box.sizes[d]) * sizeof(T));
    return;
  }
  for (std::int64_t i = 0; i < box.sizes[d]; ++i) to[i * to_step] = from[i * from_step];
}

template <typename T>
void copy(Box box, const void* from, void* to) {
  if (box.sizes.empty()) {  // a scalar
    box.sizes = box.from_strides = box.to_strides = {1};
  }
  copy_dimension(box, 0, static_cast<const T*>(from) + box.from_start,
                 static_cast<T*>(to) + box.to_start);
}

// The elements that move, and where to; nothing for all other instructions.
std::optional<Box> box_of(const HloInstruction& instruction) {
  const auto& from = instruction.operand(0)->shape();
  const auto& to = instruction.shape();
  const Dimensions from_strides = row_major_strides(from);
  Box box{{to.dimensions().begin(), to.dimensions().end()}, {}, row_major_strides(to)};
  switch (instruction.opcode()) {
    case kTranspose:
      box.from_strides = picked(from_strides, instruction.dimensions());
      return box;
    case kBroadcast:
      box.from_strides.assign(box.sizes.size(), 0);
      for (std::size_t i = 0; i < instruction.dimensions().size(); ++i) {
        entry(box.from_strides, instruction.dimensions()[i]) = from_strides[i];
      }
      return box;
    case kReverse:
      box.from_strides = from_strides;
      for (const auto dimension : instruction.dimensions()) {
        const auto d = static_cast<std::size_t>(dimension);
        box.from_start += (box.sizes[d] - 1) * from_strides[d];
        box.from_strides[d] = -from_strides[d];
      }
      return box;
    case kSlice:
      for (std::size_t d = 0; d < from_strides.size(); ++d) {
        const auto dimension = static_cast<int>(d);
        box.from_start += instruction.slice_starts(dimension) * from_strides[d];
        box.from_strides.push_back(instruction.slice_strides(dimension) * from_strides[d]);
      }
      return box;
    case kPad:
      box.sizes.assign(from.dimensions().begin(), from.dimensions().end());
      box.from_strides = from_strides;
      for (std::size_t d = 0; d < from_strides.size(); ++d) {
        const auto& padding = instruction.padding_config().dimensions(static_cast<int>(d));
        if (padding.edge_padding_low() < 0 || padding.edge_padding_high() < 0) return {};
        box.to_start += padding.edge_padding_low() * box.to_strides[d];
        box.to_strides[d] *= padding.interior_padding() + 1;
      }
      return box;
    default:
      return {};
  }
}

// Calls `function` with a number as wide as the elements.
template <typename Function>
void with_width(xla::PrimitiveType type, Function function) {
  const int width = xla::primitive_util::ByteWidth(type);
  if (width == 1) return function(std::uint8_t());
  if (width == 2) return function(std::uint16_t());
  if (width == 4) return function(std::uint32_t());
  if (width == 8) return function(std::uint64_t());
  function(std::array<std::uint64_t, 2>());
}

std::optional<xla::Literal> evaluate_shape_op(const HloInstruction& instruction,
                                              absl::Span<const xla::LiteralBase* const> operands) {
  const auto box = operands.empty() ? std::nullopt : box_of(instruction);
  if (!box) return {};
  xla::Literal result(instruction.shape());
  with_width(type_of(instruction), [&]<typename T>(T) {
    if (instruction.opcode() == kPad) {
      std::fill_n(static_cast<T*>(result.untyped_data()), result.element_count(),
                  *static_cast<const T*>(operands[1]->untyped_data()));
    }
    copy<T>(*box, operands[0]->untyped_data(), result.untyped_data());
  });
  return result;
}

// Fits into the second-level cache.
constexpr std::int64_t kPieceBytes = 1 << 19;

Value reshaped(const Value& value, const xla::Shape& shape) {
  struct View {
    Value owner;
    xla::BorrowingLiteral literal;
  };
  const auto view =
      std::make_shared<View>(View{value, {static_cast<const char*>(value->untyped_data()), shape}});
  return {view, &view->literal};
}

// For dimension `dimension` after a reshape: the dimension before it from which it was split, as in
// [a, b * c] for b of [a, b, c]. Nothing in other cases.
std::optional<std::int64_t> split_dimension(const HloInstruction& reshape, std::int64_t dimension) {
  const auto& from = reshape.operand(0)->shape();
  const auto before =
      product(reshape.shape().dimensions().first(static_cast<std::size_t>(dimension)));
  std::int64_t ahead = 1;
  for (int d = 0; d < from.rank(); ++d) {
    if (ahead == before && from.dimensions(d) > 1) {
      const bool is_multiple = from.dimensions(d) % size_of(reshape, dimension) == 0;
      return is_multiple ? std::optional(d) : std::nullopt;
    }
    ahead *= from.dimensions(d);
  }
  return {};
}

// Some of the elements along one dimension.
struct Cut {
  std::int64_t dimension = 0, start = 0, size = 0;
};
// By operand; nothing: the whole of it.
using Cuts = std::vector<std::optional<Cut>>;

// The parts of the operands that a part of a result is computed from; nothing: a part is not
// computed alone.
std::optional<Cuts> cuts_before(const HloInstruction& one, const Cut& cut) {
  const auto d = static_cast<int>(cut.dimension);
  switch (one.opcode()) {
    case kTranspose:
      return Cuts{Cut{one.dimensions(d), cut.start, cut.size}};
    case kReshape: {
      const auto from = split_dimension(one, d);
      if (!from) return {};
      const std::int64_t each = size_of(*one.operand(0), *from) / size_of(one, d);
      return Cuts{Cut{*from, cut.start * each, cut.size * each}};
    }
    case kBroadcast: {
      const auto& dimensions = one.dimensions();
      const auto found = std::ranges::find(dimensions, d) - dimensions.begin();
      return found == std::ssize(dimensions) ? Cuts(1) : Cuts{Cut{found, cut.start, cut.size}};
    }
    case kPad: {
      const auto& padding = one.padding_config().dimensions(d);
      const std::int64_t low = padding.edge_padding_low(), count = size_of(*one.operand(0), d);
      const std::int64_t first = std::clamp<std::int64_t>(cut.start - low, 0, count);
      const std::int64_t end = std::clamp<std::int64_t>(cut.start + cut.size - low, 0, count);
      if (low < 0 || padding.edge_padding_high() < 0 || padding.interior_padding() != 0 ||
          first == end) {
        return {};
      }
      return Cuts{Cut{d, first, end - first}, std::nullopt};
    }
    default:
      if (!one.IsElementwise() || one.operand_count() == 0) return {};
      return Cuts(static_cast<std::size_t>(one.operand_count()), cut);
  }
}

}  // namespace

Result<Value> Evaluator::value(const HloInstruction& instruction) {
  auto value = evaluate(instruction);
  evaluated_.clear();
  return value;
}

Status Evaluator::feed(const HloInstruction& instruction, const ChunkSink& sink) {
  const xla::Shape& shape = instruction.shape();
  Cut cut;
  while (cut.dimension + 1 < shape.rank() && size_of(instruction, cut.dimension) == 1) {
    ++cut.dimension;
  }
  const std::int64_t count = shape.rank() == 0 ? 1 : size_of(instruction, cut.dimension);
  const std::int64_t bytes = xla::ShapeUtil::ByteSizeOf(shape);
  const std::int64_t step = std::max<std::int64_t>(1, kPieceBytes * count / bytes);
  for (; cut.start < count; cut.start += step) {
    cut.size = std::min(step, count - cut.start);
    TFAOT_ASSIGN(const auto made, piece(instruction, cut.dimension, cut.start, cut.size));
    const auto size = static_cast<std::size_t>(made->size_bytes());
    TFAOT_TRY(sink({static_cast<const char*>(made->untyped_data()), size}));
  }
  evaluated_.clear();
  return {};
}

Result<Value> Evaluator::evaluate(const HloInstruction& instruction) {
  if (instruction.opcode() == kConstant) return Value(Value(), &instruction.literal());
  const auto found = evaluated_.find(&instruction);
  if (found != evaluated_.end()) return found->second;
  Value result;
  if (instruction.opcode() == kParameter) {
    TFAOT_ASSIGN(result, parameters_(instruction));
  } else {
    std::vector<Value> operands;
    for (const auto* operand : instruction.operands()) {
      TFAOT_ASSIGN(auto value, evaluate(*operand));
      operands.push_back(std::move(value));
    }
    for (const auto* operand : instruction.operands()) {
      if (operand->user_count() == 1) evaluated_.erase(operand);  // they may be large
    }
    TFAOT_ASSIGN(result, compute(instruction, operands));
  }
  return evaluated_[&instruction] = result;
}

// Operations that move elements or compute them one by one compute only the parts that are needed.
// Before any other operation the whole value is computed, once for all pieces.
Result<Value> Evaluator::piece(const HloInstruction& one, std::int64_t dimension,
                               std::int64_t start, std::int64_t size) {
  if (one.shape().rank() == 0 || size == size_of(one, dimension)) return evaluate(one);
  const xla::Shape shape = resized(one.shape(), dimension, size);
  const auto cuts =
      evaluated_.contains(&one) ? std::nullopt : cuts_before(one, {dimension, start, size});
  if (!cuts) {
    TFAOT_ASSIGN(const auto whole, evaluate(one));
    Box box{dimensions_of(one), row_major_strides(one.shape()), row_major_strides(shape)};
    entry(box.sizes, dimension) = size;
    box.from_start = start * entry(box.from_strides, dimension);
    auto part = std::make_shared<xla::Literal>(shape);
    with_width(type_of(one),
               [&]<typename T>(T) { copy<T>(box, whole->untyped_data(), part->untyped_data()); });
    return Value(std::move(part));
  }
  std::vector<Value> operands;
  for (std::int64_t i = 0; i < one.operand_count(); ++i) {
    const auto& cut = entry(*cuts, i);
    TFAOT_ASSIGN(auto value, cut ? piece(*one.operand(i), cut->dimension, cut->start, cut->size)
                                 : evaluate(*one.operand(i)));
    operands.push_back(std::move(value));
  }
  if (one.opcode() == kReshape) return reshaped(operands.front(), shape);
  if (one.opcode() != kPad) return compute_on(one, shape, operands);
  const auto pad = one.Clone();
  auto& padding = *pad->mutable_padding_config()->mutable_dimensions(static_cast<int>(dimension));
  const std::int64_t low = std::max<std::int64_t>(padding.edge_padding_low() - start, 0);
  padding.set_edge_padding_low(low);
  padding.set_edge_padding_high(size - cuts->front()->size - low);
  return compute_on(*pad, shape, operands);
}

Result<Value> Evaluator::compute(const HloInstruction& instruction,
                                 const std::vector<Value>& values) {
  if (instruction.opcode() == kReshape) {
    return reshaped(values.front(), instruction.shape());
  }
  std::vector<const xla::LiteralBase*> operands;
  absl::flat_hash_map<const HloInstruction*, const xla::LiteralBase*> substitutes;
  for (std::size_t i = 0; i < values.size(); ++i) {
    operands.push_back(values[i].get());
    substitutes[instruction.operand(static_cast<std::int64_t>(i))] = values[i].get();
  }
  auto result = evaluate_shape_op(instruction, operands);
  if (!result) {
    TFAOT_ASSIGN(result,
                 or_internal(evaluator_.EvaluateWithSubstitutions(&instruction, substitutes)));
    if (!xla::LayoutUtil::IsMonotonicWithDim0Major(result->shape().layout())) {
      result = result->Relayout(xla::LayoutUtil::GetDefaultLayoutForShape(result->shape()));
    }
  }
  return std::make_shared<const xla::Literal>(std::move(*result));
}

Result<Value> Evaluator::compute_on(const HloInstruction& instruction, const xla::Shape& shape,
                                    const std::vector<Value>& operands) {
  std::vector<std::unique_ptr<HloInstruction>> owners;
  std::vector<HloInstruction*> parts;  // in their place
  for (const Value& value : operands) {
    owners.push_back(HloInstruction::CreateParameter(0, value->shape(), "part"));
    parts.push_back(owners.back().get());
  }
  return compute(*instruction.CloneWithNewOperands(shape, parts), operands);
}

bool FixedValues::is_fixed(const HloInstruction& value) {
  constexpr std::int64_t kMostFixedElements = std::int64_t{1} << 24;
  const auto known = known_.find(&value);
  if (known != known_.end()) return known->second;
  const bool depends_on_more =
      xla::HloPredicateIsOp<kParameter, kCustomCall, kRng, kRngBitGenerator, kWhile, kCall,
                            kConditional>(&value);
  const bool has_operands =
      value.operand_count() > 0 || xla::HloPredicateIsOp<kConstant, kIota>(&value);
  const bool is = value.shape().IsArray() && !value.HasSideEffect() && !depends_on_more &&
                  has_operands && elements_of(value) <= kMostFixedElements &&
                  absl::c_all_of(value.operands(), [&](auto* one) { return is_fixed(*one); });
  return known_[&value] = is;
}

Result<xla::Literal> FixedValues::value(const HloInstruction& fixed, xla::PrimitiveType type) {
  Evaluator evaluator([](const HloInstruction& parameter) -> Result<Value> {
    return fail(Error::internal("a parameter has no value: " + std::string(parameter.name())));
  });
  TFAOT_ASSIGN(const auto value, evaluator.value(fixed));
  return or_internal(value->Convert(type));
}

}  // namespace tfaot::toolkit::engine
