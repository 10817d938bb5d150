// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/weight_values.h"

#include "absl/algorithm/container.h"
#include "compiler/hlo/conversions.h"

namespace tfaot::toolkit::engine {
namespace {

// Stored tensors have one of the types of inputs and outputs.
bool is_storable(const xla::Shape& shape) {
  if (!shape.IsArray() || xla::ShapeUtil::IsZeroElementArray(shape)) return false;
  return dtype_of(shape.element_type()).has_value();
}

}  // namespace

WeightValues::WeightValues(const xla::HloModule& module, std::int64_t first_weight)
    : entry_(module.entry_computation()), first_weight_(first_weight) {
  visit(*entry_, {});
}

bool WeightValues::is_known(const HloInstruction* instruction) const {
  const auto found = values_.find(instruction);
  return found != values_.end() && !found->second.is_spread && is_storable(instruction->shape());
}

bool WeightValues::is_weight(const HloInstruction* instruction) const {
  return is_known(instruction) && values_.at(instruction).has_weight;
}

void WeightValues::visit(const xla::HloComputation& computation, const Elements& elements) {
  for (const HloInstruction* instruction : computation.MakeInstructionPostOrder()) {
    if (instruction->opcode() == kWhile) visit_loop(*instruction);
    if (auto value = value_of(*instruction, elements)) values_[instruction] = *value;
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
    return Value{.has_weight = true};
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
  const auto is_spread = this->is_spread(instruction);
  if (!is_spread) return {};
  value.is_spread = *is_spread;
  return value;
}

// Nothing for operations that are not computed ahead.
std::optional<bool> WeightValues::is_spread(const HloInstruction& instruction) const {
  const auto is_operand_spread = [this](const HloInstruction* operand) {
    return values_.at(operand).is_spread;
  };
  switch (instruction.opcode()) {
    case kConstant:
      return false;
    case kBroadcast:
      return is_operand_spread(instruction.operand(0)) ||
             elements_of(instruction) > elements_of(*instruction.operand(0));
    case kPad:
    case kReshape:
    case kReverse:
    case kSlice:
    case kTranspose:
      return is_operand_spread(instruction.operand(0));
    case kConcatenate:
    case kDot:
    case kDynamicSlice:
    case kGather:
    case kReduce:
      if (absl::c_any_of(instruction.operands(), is_operand_spread)) return {};
      return false;
    case kMap:
    case kRng:
      return {};
    default:
      break;
  }
  if (!instruction.IsElementwise() || instruction.operand_count() == 0) return {};
  return absl::c_all_of(instruction.operands(), [&](const HloInstruction* operand) {
    return operand->shape().rank() != instruction.shape().rank() || is_operand_spread(operand);
  });
}

}  // namespace tfaot::toolkit::engine
