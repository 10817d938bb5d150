// SPDX-License-Identifier: Apache-2.0
#include "kernels/reshaped_operands.h"

#include <algorithm>

#include "kernels/kernel_call.h"
#include "kernels/row_values.h"

namespace tfaot::toolkit::engine {

using xla::HloInstruction;

Status pass_before_reshapes(xla::HloModule& module) {
  for (auto* computation : module.computations()) {
    for (HloInstruction* kernel : computation->MakeInstructionPostOrder()) {
      if (!is_kernel_call(*kernel)) continue;
      std::vector<HloInstruction*> operands(kernel->operands().begin(), kernel->operands().end());
      for (HloInstruction*& operand : operands) operand = behind_reshapes(operand);
      if (std::ranges::equal(operands, kernel->operands())) continue;
      TFAOT_TRY(replace_operands(*kernel, operands));
    }
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
