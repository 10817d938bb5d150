// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "compiler/hlo/build.h"
#include "compiler/hlo/match.h"
#include "compiler/hlo/passes.h"

namespace tfaot::toolkit::engine {
namespace {

bool is_half(xla::PrimitiveType type) { return type == xla::F16 || type == xla::BF16; }

HloInstruction* with_type(HloInstruction* x, xla::PrimitiveType type) {
  HloInstruction* const made = convert(x, type);
  made->set_metadata(x->metadata());
  return made;
}

class Widener {
 public:
  explicit Widener(xla::HloModule& module) : entry_(*module.entry_computation()) {}

  // In an order in which operands come first.
  Status widen(HloInstruction& one) {
    if (&one == entry_.root_instruction()) return restore_operands(one);
    switch (one.opcode()) {
      case kParameter:
        if (one.parent() == &entry_) return widen_after(one);
        break;
      case kConstant:
        return widen_constant(one);
      case kConvert:
        if (is_half(type_of(one)) && is_cast(one)) return widen_after(one);
        // The last digit may decide which whole number it becomes.
        if (!xla::primitive_util::IsFloatingPointType(type_of(one))) {
          return keep_types(one);
        }
        break;
      case kGetTupleElement:
        if (kept_.contains(one.operand(0))) return widen_after(one);
        break;
      case kBitcastConvert:
      case kCustomCall:
        return keep_types(one);
      default:
        break;
    }
    if (!xla::ShapeUtil::HasPrimitiveType(one.shape(), xla::F16) &&
        !xla::ShapeUtil::HasPrimitiveType(one.shape(), xla::BF16)) {
      return {};
    }
    types_[&one] = type_of(one);
    xla::ShapeUtil::ForEachMutableSubshape(one.mutable_shape(),
                                           [](xla::Shape* part, const xla::ShapeIndex& /*where*/) {
                                             if (is_half(part->element_type()))
                                               part->set_element_type(xla::F32);
                                           });
    return {};
  }

 private:
  // Its users get float32.
  Status widen_after(HloInstruction& one) {
    if (!is_half(type_of(one))) return {};
    HloInstruction* const wide = with_type(&one, xla::F32);
    types_[wide] = type_of(one);
    return checked(one.ReplaceAllUsesWith(wide));
  }

  Status widen_constant(HloInstruction& constant) {
    if (!is_half(constant.shape().element_type())) return {};
    TFAOT_ASSIGN(auto wide, or_internal(constant.literal().Convert(xla::F32)));
    HloInstruction* const made = constant_next_to(&constant, std::move(wide));
    types_[made] = constant.shape().element_type();
    return checked(constant.ReplaceAllUsesWith(made));
  }

  // For operations on bits, and for those that others define.
  Status keep_types(HloInstruction& one) {
    TFAOT_TRY(restore_operands(one));
    kept_.insert(&one);
    return widen_after(one);
  }

  // The tuple of the outputs, too.
  Status restore_operands(HloInstruction& one) {
    for (std::int64_t i = 0; i < one.operand_count(); ++i) {
      const auto type = types_.find(one.operand(i));
      if (type == types_.end() || !one.operand(i)->shape().IsArray()) continue;
      TFAOT_TRY(checked(one.ReplaceOperandWithDifferentShape(
          i, with_type(one.mutable_operand(i), type->second))));
    }
    return {};
  }

  // True for the model's own casts, which round. Frameworks also convert inside an operation, whose
  // sums are float32. StableHLO does not say which of both a conversion is.
  bool is_cast(const HloInstruction& convert) const {
    const std::string& operation = convert.metadata().op_type();
    if (operation.empty()) return !is_sum_of_halves(convert.operand(0));
    return operation == "Cast" || operation == "CastLike";
  }

  // Or a mean.
  bool is_sum_of_halves(const HloInstruction* x) const {
    while (x->opcode() == kReshape || x->opcode() == kBroadcast ||
           (x->operand_count() == 2 && number_of(*x->operand(1)) &&
            (x->opcode() == kDivide || x->opcode() == kMultiply))) {
      x = x->operand(0);
    }
    return x->opcode() == kReduce && x->operand(0)->opcode() == kConvert &&
           types_.contains(x->operand(0)->operand(0));
  }

  const xla::HloComputation& entry_;
  std::map<const HloInstruction*, xla::PrimitiveType> types_;  // before, of those that were widened
  std::set<const HloInstruction*> kept_;                       // have the types they had
};

}  // namespace

Status widen_halves(xla::HloModule& module, PassContext& /*context*/) {
  Widener widener(module);
  for (auto* computation : module.computations()) {
    for (auto* one : computation->MakeInstructionPostOrder()) TFAOT_TRY(widener.widen(*one));
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
