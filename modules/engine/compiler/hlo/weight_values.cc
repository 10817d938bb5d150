// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/weight_values.h"

#include <algorithm>

#include "absl/algorithm/container.h"
#include "compiler/hlo/conversions.h"

namespace tfaot::toolkit::engine {
namespace {

bool any(const std::vector<bool>& values) { return absl::c_linear_search(values, true); }

// Stored tensors have one of the types of inputs and outputs.
bool is_storable(const xla::Shape& shape) {
  if (!shape.IsArray() || xla::ShapeUtil::IsZeroElementArray(shape)) return false;
  return dtype_of(shape.element_type()).has_value();
}

// By dimension of a reshape: if one of the dimensions that it joins and splits is spread, all are.
std::vector<bool> reshaped(const HloInstruction& reshape, const std::vector<bool>& spread) {
  std::vector<bool> result;
  for (const ReshapeGroup& group : groups_of(reshape)) {
    const bool mixed = std::ranges::any_of(group.from, [&](auto d) { return entry(spread, d); });
    for (const auto d : group.to) {
      result.push_back(mixed && size_of(reshape, d) > 1);
    }
  }
  return result;
}

}  // namespace

WeightValues::WeightValues(const xla::HloModule& module, std::int64_t first_weight)
    : entry_(module.entry_computation()), first_weight_(first_weight) {
  visit(*entry_, {});
}

bool WeightValues::is_known(const HloInstruction* instruction) const {
  const auto found = values_.find(instruction);
  return found != values_.end() && !any(found->second.spread) && is_storable(instruction->shape());
}

bool WeightValues::is_weight(const HloInstruction* instruction) const {
  return is_known(instruction) && values_.at(instruction).has_weight;
}

void WeightValues::visit(const xla::HloComputation& computation, const Elements& elements) {
  for (const HloInstruction* instruction : computation.MakeInstructionPostOrder()) {
    if (instruction->opcode() == kWhile) visit_loop(*instruction);
    if (auto value = value_of(*instruction, elements)) values_[instruction] = std::move(*value);
  }
}

// The body's root passes an element on if it is that element of the parameter.
void WeightValues::visit_loop(const HloInstruction& loop) {
  const HloInstruction* start = loop.operand(0);
  const HloInstruction* root = loop.while_body()->root_instruction();
  if (start->opcode() != kTuple || root->opcode() != kTuple) return;
  Elements elements;
  for (std::int64_t i = 0; i < start->operand_count(); ++i) {
    const HloInstruction* next = root->operand(i);
    const bool is_handed_on = next->opcode() == kGetTupleElement && next->tuple_index() == i &&
                              next->operand(0)->opcode() == kParameter;
    const auto found = values_.find(start->operand(i));
    if (is_handed_on && found != values_.end()) elements[i] = found->second;
  }
  visit(*loop.while_body(), elements);
}

std::optional<WeightValues::Value> WeightValues::value_of(const HloInstruction& instruction,
                                                          const Elements& elements) const {
  if (instruction.opcode() == kParameter) {
    if (instruction.parent() != entry_ || instruction.parameter_number() < first_weight_) return {};
    return Value{true, std::vector<bool>(static_cast<std::size_t>(instruction.shape().rank()))};
  }
  if (instruction.opcode() == kGetTupleElement) {
    const auto found = elements.find(instruction.tuple_index());
    if (found == elements.end() || instruction.operand(0)->opcode() != kParameter) {
      return {};
    }
    return found->second;
  }
  if (!instruction.shape().IsArray() || xla::ShapeUtil::IsZeroElementArray(instruction.shape())) {
    return {};
  }
  Value value;
  for (const HloInstruction* operand : instruction.operands()) {
    const auto found = values_.find(operand);
    if (found == values_.end()) return {};
    value.has_weight = value.has_weight || found->second.has_weight;
  }
  auto spread = spread_of(instruction);
  if (!spread) return {};
  value.spread = std::move(*spread);
  return value;
}

bool WeightValues::spread(const HloInstruction& operand, std::int64_t dimension) const {
  return values_.at(&operand).spread.at(static_cast<std::size_t>(dimension));
}

// Nothing for operations that are not computed ahead.
std::optional<std::vector<bool>> WeightValues::spread_of(const HloInstruction& instruction) const {
  const auto rank = instruction.shape().rank();
  std::vector<bool> result(static_cast<std::size_t>(rank), false);
  const auto set = [&](std::int64_t dimension, bool value) {
    entry(result, dimension) = value && size_of(instruction, dimension) > 1;
  };
  switch (instruction.opcode()) {
    case kConstant:
      return result;
    case kBroadcast:
      for (std::int64_t d = 0; d < rank; ++d) set(d, true);
      for (std::size_t i = 0; i < instruction.dimensions().size(); ++i) {
        set(instruction.dimensions()[i],
            spread(*instruction.operand(0), static_cast<std::int64_t>(i)));
      }
      return result;
    case kReshape:
      return reshaped(instruction, values_.at(instruction.operand(0)).spread);
    case kTranspose:
      for (std::int64_t d = 0; d < rank; ++d) {
        set(d, spread(*instruction.operand(0), instruction.dimensions(d)));
      }
      return result;
    case kPad:
    case kSlice:
    case kReverse:
      for (std::int64_t d = 0; d < rank; ++d) set(d, spread(*instruction.operand(0), d));
      return result;
    case kConcatenate:
    case kDynamicSlice:
    case kGather:
    case kReduce:
    case kDot:
      for (const HloInstruction* operand : instruction.operands()) {
        if (any(values_.at(operand).spread)) return {};
      }
      return result;
    case kMap:
    case kRng:
      return {};
    default:
      break;
  }
  if (!instruction.IsElementwise() || instruction.operand_count() == 0) return {};
  for (std::int64_t d = 0; d < rank; ++d) {
    set(d, absl::c_all_of(instruction.operands(), [&](const HloInstruction* operand) {
          return operand->shape().rank() != rank || spread(*operand, d);
        }));
  }
  return result;
}

}  // namespace tfaot::toolkit::engine
