// SPDX-License-Identifier: Apache-2.0
#include "kernels/rewrite_to_kernel_calls.h"

#include "hlo/weight_values.h"
#include "kernels/convolution_calls.h"
#include "kernels/matmul_calls.h"
#include "kernels/pool_calls.h"

namespace tfaot::toolkit::engine {
namespace {

Status replace(xla::HloInstruction& instruction, const WeightValues& values,
               const Choices& choices) {
  switch (instruction.opcode()) {
    case xla::HloOpcode::kDot:
      return replace_dot(instruction, values, choices.weights_type);
    case xla::HloOpcode::kConvolution:
      return replace_convolution(instruction, values, choices);
    case xla::HloOpcode::kReduceWindow:
      return replace_pool(instruction);
    case xla::HloOpcode::kReduce:
      return values.is_known(&instruction) ? Status() : replace_reduction(instruction);
    default:
      return {};
  }
}

}  // namespace

Status rewrite_to_kernel_calls(xla::HloModule& module, std::int64_t first_weight,
                               const Choices& choices) {
  const WeightValues values(module, first_weight);
  for (auto* computation : module.MakeComputationPostOrder()) {
    // Replaced instructions stay, without users, until dead code is removed: `values` refers to
    // them.
    for (auto* instruction : computation->MakeInstructionPostOrder()) {
      TFAOT_TRY(replace(*instruction, values, choices));
    }
  }
  return {};
}

}  // namespace tfaot::toolkit::engine
