// SPDX-License-Identifier: Apache-2.0
#include "kernels/elu_loops.h"

#include <algorithm>

#include "hlo/simplify.h"
#include "kernels/row_values.h"
#include "xla/literal_util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;
using xla::HloOpcode;

// Whether `select` takes `value` where x is negative, and x elsewhere.
bool is_elu(const HloInstruction& select, const HloInstruction& value, const HloInstruction& x) {
  if (select.opcode() != HloOpcode::kSelect || select.operand(1) != &x ||
      select.operand(2) != &value) {
    return false;
  }
  const HloInstruction& is_above = *select.operand(0);
  return is_above.opcode() == HloOpcode::kCompare && is_above.operand(0) == &x &&
         number_of(*is_above.operand(1)) == 0 &&
         (is_above.comparison_direction() == xla::ComparisonDirection::kGt ||
          is_above.comparison_direction() == xla::ComparisonDirection::kGe);
}

// Also a multiple of it.
bool ends_in_elus(const HloInstruction& value, const HloInstruction& x) {
  return value.user_count() > 0 && !value.IsRoot() &&
         std::ranges::all_of(value.users(), [&](const HloInstruction* user) {
           if (is_elu(*user, value, x)) return true;
           const bool is_multiple = user->opcode() == HloOpcode::kMultiply &&
                                    (number_of(*user->operand(0)) || number_of(*user->operand(1)));
           return is_multiple && ends_in_elus(*user, x);
         });
}

}  // namespace

Status shorten_elus(xla::HloModule& module, const Choices& choices) {
  if (!choices.fast_math) return {};
  for (auto* computation : module.MakeComputationPostOrder()) {
    if (computation->IsFusionComputation()) continue;
    for (auto* instruction : computation->MakeInstructionPostOrder()) {
      if (instruction->opcode() != HloOpcode::kExpm1 ||
          !ends_in_elus(*instruction, *instruction->operand(0))) {
        continue;
      }
      HloInstruction* const exp = computation->AddInstruction(HloInstruction::CreateUnary(
          instruction->shape(), HloOpcode::kExp, instruction->mutable_operand(0)));
      HloInstruction* const one = computation->AddInstruction(HloInstruction::CreateConstant(
          xla::LiteralUtil::One(instruction->shape().element_type())));
      TFAOT_TRY(checked(instruction->ReplaceAllUsesWith(
          binary(HloOpcode::kSubtract, exp, broadcast(one, dimensions_of(*exp), {})))));
    }
  }
  return remove_dead_code(module);
}

}  // namespace tfaot::toolkit::engine
