// SPDX-License-Identifier: Apache-2.0
#include "kernels/reshaped_operands.h"

#include <algorithm>

#include "kernels/kernel_call.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;

HloInstruction* what_is_reshaped(HloInstruction* value) {
  while (value->opcode() == xla::HloOpcode::kReshape) value = value->mutable_operand(0);
  return value;
}

}  // namespace

Status pass_before_reshapes(xla::HloModule& module) {
  for (auto* computation : module.computations()) {
    for (HloInstruction* kernel : computation->MakeInstructionPostOrder()) {
      if (!is_kernel_call(*kernel)) continue;
      std::vector<HloInstruction*> operands(kernel->operands().begin(), kernel->operands().end());
      for (HloInstruction*& operand : operands) operand = what_is_reshaped(operand);
      if (std::ranges::equal(operands, kernel->operands())) continue;
      TFAOT_TRY(replace_operands(*kernel, operands));
    }
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
