// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/evaluate.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/algorithm/container.h"
#include "compiler/hlo/conversions.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Elements of a box: `sizes` of them, with these distances (in elements) in source and destination.
struct Box {
  Dimensions sizes, from_strides, to_strides;
  std::int64_t from_start = 0, to_start = 0;
};

Dimensions row_major_strides(const xla::Shape& shape) {
  Dimensions strides(static_cast<std::size_t>(shape.rank()));
  std::int64_t stride = 1;
  for (std::size_t d = strides.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= entry(shape.dimensions(), d);
  }
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
    case HloOpcode::kTranspose:
      for (const auto d : instruction.dimensions()) {
        box.from_strides.push_back(entry(from_strides, d));
      }
      return box;
    case HloOpcode::kBroadcast:
      box.from_strides.assign(box.sizes.size(), 0);
      for (std::size_t i = 0; i < instruction.dimensions().size(); ++i) {
        entry(box.from_strides, instruction.dimensions()[i]) = from_strides[i];
      }
      return box;
    case HloOpcode::kReverse:
      box.from_strides = from_strides;
      for (const auto dimension : instruction.dimensions()) {
        const auto d = static_cast<std::size_t>(dimension);
        box.from_start += (box.sizes[d] - 1) * from_strides[d];
        box.from_strides[d] = -from_strides[d];
      }
      return box;
    case HloOpcode::kSlice:
      for (std::size_t d = 0; d < from_strides.size(); ++d) {
        const auto dimension = static_cast<int>(d);
        box.from_start += instruction.slice_starts(dimension) * from_strides[d];
        box.from_strides.push_back(instruction.slice_strides(dimension) * from_strides[d]);
      }
      return box;
    case HloOpcode::kPad:
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

template <typename T>
void run(const HloInstruction& instruction, const Box& box,
         absl::Span<const xla::LiteralBase* const> operands, xla::Literal& result) {
  if (instruction.opcode() == HloOpcode::kPad) {
    T* elements = static_cast<T*>(result.untyped_data());
    std::fill(elements, elements + result.element_count(),
              *static_cast<const T*>(operands[1]->untyped_data()));
  }
  copy<T>(box, operands[0]->untyped_data(), result.untyped_data());
}

std::optional<xla::Literal> evaluate_shape_op(const HloInstruction& instruction,
                                              absl::Span<const xla::LiteralBase* const> operands) {
  if (operands.empty()) return {};
  const auto box = box_of(instruction);
  if (!box) return {};
  xla::Literal result(instruction.shape());
  switch (xla::primitive_util::ByteWidth(type_of(instruction))) {
    case 1:
      run<std::uint8_t>(instruction, *box, operands, result);
      return result;
    case 4:
      run<std::uint32_t>(instruction, *box, operands, result);
      return result;
    case 8:
      run<std::uint64_t>(instruction, *box, operands, result);
      return result;
    default:
      return {};
  }
}

// Fits into the second-level cache.
constexpr std::int64_t kPieceBytes = 1 << 19;

// The same bytes in another shape.
Value reshaped(const Value& value, const xla::Shape& shape) {
  struct View {
    Value owner;
    xla::BorrowingLiteral literal;
  };
  const auto view =
      std::make_shared<View>(View{value, {static_cast<const char*>(value->untyped_data()), shape}});
  return {view, &view->literal};
}

std::int64_t size_of(const xla::Shape& shape, std::int64_t dimension) {
  return entry(shape.dimensions(), dimension);
}

// Holds values, and the operands that represent them in an instruction outside of any computation.
class Stand {
 public:
  explicit Stand(std::vector<Value> values) : values_(std::move(values)) {
    for (const Value& value : values_) {
      owners_.push_back(HloInstruction::CreateParameter(0, value->shape(), "part"));
      instructions_.push_back(owners_.back().get());
    }
  }
  const std::vector<Value>& values() const { return values_; }
  const std::vector<HloInstruction*>& instructions() const { return instructions_; }

 private:
  std::vector<Value> values_;
  std::vector<std::unique_ptr<HloInstruction>> owners_;
  std::vector<HloInstruction*> instructions_;
};

// For dimension `dimension` after a reshape: the dimension before it from which it was split, as in
// [a, b * c] for b of [a, b, c]. Nothing in other cases.
std::optional<std::int64_t> split_dimension(const HloInstruction& reshape, std::int64_t dimension) {
  const auto& from = reshape.operand(0)->shape();
  const auto before =
      product(reshape.shape().dimensions().first(static_cast<std::size_t>(dimension)));
  std::int64_t ahead = 1;
  for (int d = 0; d < from.rank(); ++d) {
    if (ahead == before && from.dimensions(d) > 1) {
      const bool is_multiple = from.dimensions(d) % size_of(reshape.shape(), dimension) == 0;
      return is_multiple ? std::optional(d) : std::nullopt;
    }
    ahead *= from.dimensions(d);
  }
  return {};
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
  while (cut.dimension + 1 < shape.rank() && size_of(shape, cut.dimension) == 1) ++cut.dimension;
  const std::int64_t count = shape.rank() == 0 ? 1 : size_of(shape, cut.dimension);
  const std::int64_t bytes = xla::ShapeUtil::ByteSizeOf(shape);
  const std::int64_t step = std::max<std::int64_t>(1, kPieceBytes * count / bytes);
  for (; cut.start < count; cut.start += step) {
    cut.size = std::min(step, count - cut.start);
    TFAOT_ASSIGN(const auto made, piece(instruction, cut));
    const auto size = static_cast<std::size_t>(made->size_bytes());
    TFAOT_TRY(sink({static_cast<const char*>(made->untyped_data()), size}));
  }
  evaluated_.clear();
  return {};
}

Result<Value> Evaluator::evaluate(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kConstant) return Value(Value(), &instruction.literal());
  const auto found = evaluated_.find(&instruction);
  if (found != evaluated_.end()) return found->second;
  Value result;
  if (instruction.opcode() == HloOpcode::kParameter) {
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

// Elementwise operations compute only the parts that are needed. Before any other operation the
// whole value is computed, once for all pieces.
Result<Value> Evaluator::piece(const HloInstruction& instruction, const Cut& cut) {
  const auto& shape = instruction.shape();
  if (shape.rank() == 0 || cut.size == size_of(shape, cut.dimension)) {
    return evaluate(instruction);
  }
  if (evaluated_.contains(&instruction)) return cut_out(instruction, cut);
  const xla::Shape cut_shape = resized(shape, cut.dimension, cut.size);
  if (instruction.opcode() == HloOpcode::kTranspose) {
    const auto dimension = instruction.dimensions(cut.dimension);
    TFAOT_ASSIGN(auto part, piece(*instruction.operand(0), {dimension, cut.start, cut.size}));
    return compute_on(instruction, cut_shape, {std::move(part)});
  }
  if (instruction.opcode() == HloOpcode::kReshape) return piece_of_reshape(instruction, cut);
  if (instruction.opcode() == HloOpcode::kPad) return piece_of_pad(instruction, cut);
  if (instruction.opcode() == HloOpcode::kBroadcast) return piece_of_broadcast(instruction, cut);
  if (!instruction.IsElementwise() || instruction.operand_count() == 0) {
    return cut_out(instruction, cut);
  }
  std::vector<Value> operands;
  for (const auto* operand : instruction.operands()) {
    TFAOT_ASSIGN(auto part, piece(*operand, cut));
    operands.push_back(std::move(part));
  }
  return compute_on(instruction, cut_shape, std::move(operands));
}

Result<Value> Evaluator::piece_of_reshape(const HloInstruction& reshape, const Cut& cut) {
  const auto dimension = split_dimension(reshape, cut.dimension);
  if (!dimension) return cut_out(reshape, cut);
  const HloInstruction& operand = *reshape.operand(0);
  const std::int64_t each =
      size_of(operand.shape(), *dimension) / size_of(reshape.shape(), cut.dimension);
  TFAOT_ASSIGN(const auto part, piece(operand, {*dimension, cut.start * each, cut.size * each}));
  return reshaped(part, resized(reshape.shape(), cut.dimension, cut.size));
}

Result<Value> Evaluator::piece_of_pad(const HloInstruction& pad, const Cut& cut) {
  const HloInstruction& operand = *pad.operand(0);
  xla::PaddingConfig config = pad.padding_config();
  auto& padding = *config.mutable_dimensions(static_cast<int>(cut.dimension));
  const std::int64_t low = padding.edge_padding_low();
  if (low < 0 || padding.edge_padding_high() < 0 || padding.interior_padding() != 0) {
    return cut_out(pad, cut);
  }
  const std::int64_t count = size_of(operand.shape(), cut.dimension);
  const std::int64_t first = std::clamp<std::int64_t>(cut.start - low, 0, count);
  const std::int64_t size = std::clamp<std::int64_t>(cut.start + cut.size - low, 0, count) - first;
  if (size == 0) return cut_out(pad, cut);
  padding.set_edge_padding_low(std::max<std::int64_t>(low - cut.start, 0));
  padding.set_edge_padding_high(cut.size - size - padding.edge_padding_low());
  TFAOT_ASSIGN(auto part, piece(operand, {cut.dimension, first, size}));
  TFAOT_ASSIGN(auto value, evaluate(*pad.operand(1)));
  const Stand stand({std::move(part), std::move(value)});
  const auto made =
      HloInstruction::CreatePad(resized(pad.shape(), cut.dimension, cut.size),
                                stand.instructions()[0], stand.instructions()[1], config);
  return compute(*made, stand.values());
}

Result<Value> Evaluator::piece_of_broadcast(const HloInstruction& broadcast, const Cut& cut) {
  const HloInstruction& operand = *broadcast.operand(0);
  const auto& dimensions = broadcast.dimensions();
  const auto found = std::find(dimensions.begin(), dimensions.end(), cut.dimension);
  Value part;
  if (found == dimensions.end()) {
    TFAOT_ASSIGN(part, evaluate(operand));
  } else {
    TFAOT_ASSIGN(part, piece(operand, {found - dimensions.begin(), cut.start, cut.size}));
  }
  return compute_on(broadcast, resized(broadcast.shape(), cut.dimension, cut.size),
                    {std::move(part)});
}

Result<Value> Evaluator::cut_out(const HloInstruction& instruction, const Cut& cut) {
  TFAOT_ASSIGN(auto whole, evaluate(instruction));
  const Dimensions limits = dimensions_of(instruction);
  Dimensions starts(limits.size(), 0);
  Dimensions ends = limits;
  entry(starts, cut.dimension) = cut.start;
  entry(ends, cut.dimension) = cut.start + cut.size;
  const Stand stand({std::move(whole)});
  const auto made = HloInstruction::CreateSlice(
      resized(instruction.shape(), cut.dimension, cut.size), stand.instructions()[0], starts, ends,
      Dimensions(limits.size(), 1));
  return compute(*made, stand.values());
}

Result<Value> Evaluator::compute(const HloInstruction& instruction,
                                 const std::vector<Value>& values) {
  if (instruction.opcode() == HloOpcode::kReshape) {
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
                                    std::vector<Value> operands) {
  const Stand stand(std::move(operands));
  const auto made = instruction.CloneWithNewOperands(shape, stand.instructions());
  return compute(*made, stand.values());
}

bool FixedValues::is_fixed(const HloInstruction& value) {
  constexpr std::int64_t kMostFixedElements = std::int64_t{1} << 24;
  const auto known = known_.find(&value);
  if (known != known_.end()) return known->second;
  const bool depends_on_more =
      xla::HloPredicateIsOp<HloOpcode::kParameter, HloOpcode::kCustomCall, HloOpcode::kRng,
                            HloOpcode::kRngBitGenerator, HloOpcode::kWhile, HloOpcode::kCall,
                            HloOpcode::kConditional>(&value);
  const bool has_operands = value.operand_count() > 0 ||
                            xla::HloPredicateIsOp<HloOpcode::kConstant, HloOpcode::kIota>(&value);
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
