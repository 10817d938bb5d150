// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/evaluate.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "compiler/hlo/view.h"
#include "tsl/platform/status.h"
#include "xla/pjrt/transpose.h"
#include "xla/primitive_util.h"

namespace tfaot::toolkit::engine {
namespace {

// A part of a tensor with these sizes.
xla::Literal slice_of(const xla::LiteralBase& value, absl::Span<const std::int64_t> starts,
                      const xla::Shape& shape) {
  xla::Literal part(shape);
  const Dimensions origin(starts.size(), 0);
  TF_CHECK_OK(part.CopySliceFrom(value, starts, origin, shape.dimensions()));
  return part;
}

// Moves elements, which XLA's evaluator does one by one. Nothing for all other instructions.
std::optional<xla::Literal> moved(const HloInstruction& one,
                                  absl::Span<const xla::LiteralBase* const> operands) {
  if (xla::ShapeUtil::IsZeroElementArray(one.shape())) return {};
  switch (one.opcode()) {
    case kTranspose: {
      xla::TransposePlan::Options options;
      options.elem_size_in_bytes =
          static_cast<std::size_t>(xla::primitive_util::ByteWidth(type_of(one)));
      options.dims = operands[0]->shape().dimensions();
      options.permutation = one.dimensions();
      xla::Literal result(one.shape());
      xla::TransposePlan::Create(options).value()->Execute(operands[0]->untyped_data(),
                                                           result.untyped_data());
      return result;
    }
    case kReverse: {
      Dimensions sizes = dimensions_of(one), counts(sizes.size(), 1);
      for (const auto d : one.dimensions()) std::swap(entry(sizes, d), entry(counts, d));
      if (product(counts) > product(sizes)) return {};
      xla::Literal result(one.shape());
      const auto copy_slice = [&](absl::Span<const std::int64_t> to) {
        Dimensions from(to.begin(), to.end());
        for (const auto d : one.dimensions()) entry(from, d) = entry(counts, d) - 1 - entry(to, d);
        TF_CHECK_OK(result.CopySliceFrom(*operands[0], from, to, sizes));
        return true;
      };
      xla::ShapeUtil::ForEachIndexNoStatus(one.shape(), Dimensions(sizes.size(), 0), counts,
                                           Dimensions(sizes.size(), 1), copy_slice);
      return result;
    }
    case kSlice:
      if (std::ranges::count(one.slice_strides(), 1) != one.shape().rank()) return {};
      return slice_of(*operands[0], one.slice_starts(), one.shape());
    case kPad: {
      Dimensions low;
      for (const auto& padding : one.padding_config().dimensions()) {
        if (padding.edge_padding_low() < 0 || padding.edge_padding_high() < 0 ||
            padding.interior_padding() != 0) {
          return {};
        }
        low.push_back(padding.edge_padding_low());
      }
      auto result = operands[1]->Broadcast(one.shape(), {}).value();
      TF_CHECK_OK(result.CopySliceFrom(*operands[0], Dimensions(low.size(), 0), low,
                                       operands[0]->shape().dimensions()));
      return result;
    }
    default:
      return {};
  }
}

// The numbers of a tensor with its dimensions in another order.
template <typename T>
std::vector<T> ordered(const xla::LiteralBase& value, absl::Span<const std::int64_t> order) {
  xla::TransposePlan::Options options;
  options.elem_size_in_bytes = sizeof(T);
  options.dims = value.shape().dimensions();
  options.permutation = order;
  std::vector<T> numbers(static_cast<std::size_t>(xla::ShapeUtil::ElementsIn(value.shape())));
  xla::TransposePlan::Create(options).value()->Execute(value.untyped_data(), numbers.data());
  return numbers;
}

// Sums go through the depth one step after the other, in float64. XLA's evaluator leaves products
// to Eigen, whose sums have parts that depend on the caches of the machine that compiles.
template <typename T>
xla::Literal evaluated_product(const HloInstruction& dot,
                               absl::Span<const xla::LiteralBase* const> operands) {
  constexpr std::int64_t kColumns = 2048;  // of a part that stays in the second-level cache
  const auto& numbers = dot.dot_dimension_numbers();
  const auto& lhs_batch = numbers.lhs_batch_dimensions();
  const auto& lhs_depth = numbers.lhs_contracting_dimensions();
  const auto& rhs_batch = numbers.rhs_batch_dimensions();
  const auto& rhs_depth = numbers.rhs_contracting_dimensions();
  const xla::Shape& lhs = operands[0]->shape();
  const xla::Shape& rhs = operands[1]->shape();
  const Dimensions rows = other_dimensions(lhs.rank(), joined({lhs_batch, lhs_depth}));
  const Dimensions columns = other_dimensions(rhs.rank(), joined({rhs_batch, rhs_depth}));
  const auto a = ordered<T>(*operands[0], joined({lhs_batch, rows, lhs_depth}));
  const auto b = ordered<T>(*operands[1], joined({rhs_batch, rhs_depth, columns}));
  const std::int64_t depth = product(picked(lhs.dimensions(), lhs_depth));
  const std::int64_t width = product(picked(rhs.dimensions(), columns));
  const std::int64_t each = product(picked(lhs.dimensions(), rows));  // rows of a matrix
  const std::int64_t all = product(picked(lhs.dimensions(), lhs_batch)) * each;
  xla::Literal result(dot.shape());
  const auto out = result.data<T>();
  std::vector<double> sums;
  for (std::int64_t first = 0; first < width; first += kColumns) {
    const std::int64_t count = std::min(kColumns, width - first);
    for (std::int64_t row = 0; row < all; ++row) {
      sums.assign(static_cast<std::size_t>(count), 0);
      for (std::int64_t k = 0; k < depth; ++k) {
        const double factor = entry(a, row * depth + k);
        const T* const from = b.data() + (row / each * depth + k) * width + first;
        double* const to = sums.data();
        for (std::int64_t j = 0; j < count; ++j) to[j] += factor * from[j];
      }
      for (std::int64_t j = 0; j < count; ++j) {
        out[static_cast<std::size_t>(row * width + first + j)] = static_cast<T>(entry(sums, j));
      }
    }
  }
  return result;
}

// Nothing for all other instructions.
std::optional<xla::Literal> multiplied(const HloInstruction& one,
                                       absl::Span<const xla::LiteralBase* const> operands) {
  const auto has_type = [&](const auto* operand) {
    return operand->shape().element_type() == type_of(one);
  };
  if (one.opcode() != kDot || !absl::c_all_of(operands, has_type)) return {};
  if (absl::c_any_of(operands, [](const auto* operand) { return operand->size_bytes() == 0; })) {
    return {};
  }
  if (type_of(one) == xla::F32) return evaluated_product<float>(one, operands);
  if (type_of(one) == xla::F64) return evaluated_product<double>(one, operands);
  return {};
}

// Fits into the second-level cache.
constexpr std::int64_t kPieceBytes = 1 << 19;

Value reshaped(const Value& value, const xla::Shape& shape) {
  struct Borrowed {
    Value owner;
    xla::BorrowingLiteral literal;
  };
  const auto borrowed = std::make_shared<Borrowed>(
      Borrowed{value, {static_cast<const char*>(value->untyped_data()), shape}});
  return {borrowed, &borrowed->literal};
}

// By operand; nothing: the whole of it.
using Cuts = std::vector<std::optional<Cut>>;

// The parts of the operands that a part of a result is computed from; nothing: a part is not
// computed alone.
std::optional<Cuts> cuts_before(const HloInstruction& one, const Cut& cut) {
  const auto d = static_cast<int>(cut.dimension);
  switch (one.opcode()) {
    case kBroadcast:
    case kReshape:
    case kTranspose: {
      const Stride own = entry(view_of_operand(one)->strides, d);
      if (own.step == 0) return Cuts(1);
      // A dimension of the operand, or one that was split from it, as in [a, b * c] for b of
      // [a, b, c].
      const Strides operand = view_of(one.operands()[0]).strides;
      const auto from = std::ranges::find_if(operand, [&](const Stride& whole) {
        return whole.size > 1 && whole.size * whole.step == own.size * own.step;
      });
      if (from == operand.end() || own.step % from->step != 0) return {};
      const std::int64_t each = own.step / from->step;
      return Cuts{Cut{from - operand.begin(), cut.start * each, cut.size * each}};
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
    TFAOT_ASSIGN(const auto made, piece(instruction, cut));
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
Result<Value> Evaluator::piece(const HloInstruction& one, const Cut& cut) {
  if (one.shape().rank() == 0 || cut.size == size_of(one, cut.dimension)) return evaluate(one);
  const xla::Shape shape = resized(one.shape(), cut.dimension, cut.size);
  const auto cuts = evaluated_.contains(&one) ? std::nullopt : cuts_before(one, cut);
  if (!cuts) {
    TFAOT_ASSIGN(const auto whole, evaluate(one));
    Dimensions starts(dimensions_of(one).size(), 0);
    entry(starts, cut.dimension) = cut.start;
    return Value(std::make_shared<xla::Literal>(slice_of(*whole, starts, shape)));
  }
  std::vector<Value> operands;
  for (std::int64_t i = 0; i < one.operand_count(); ++i) {
    const auto& part = entry(*cuts, i);
    TFAOT_ASSIGN(auto value, part ? piece(*one.operand(i), *part) : evaluate(*one.operand(i)));
    operands.push_back(std::move(value));
  }
  if (one.opcode() == kReshape) return reshaped(operands.front(), shape);
  return compute_on(one, shape, operands);
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
  auto result = moved(instruction, operands);
  if (!result) result = multiplied(instruction, operands);
  if (!result) {
    TFAOT_ASSIGN(result,
                 or_internal(evaluator_.EvaluateWithSubstitutions(&instruction, substitutes)));
    if (result->shape().IsArray() &&
        !xla::LayoutUtil::IsMonotonicWithDim0Major(result->shape().layout())) {
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
