// SPDX-License-Identifier: Apache-2.0
#include "kernels/aligned_temporaries.h"

#include "kernels/kernel_call.h"
#include "xla/hlo/ir/hlo_instructions.h"
#include "xla/util.h"

namespace tfaot::toolkit::engine {
namespace {

using xla::HloInstruction;

constexpr std::int64_t kPointerBytes = 8;
constexpr std::int64_t kTableAlignment = 16;  // XLA's of all buffers

std::int64_t table_bytes(const HloInstruction& kernel) {
  return xla::RoundUpTo(kPointerBytes * xla::ShapeUtil::TupleElementCount(kernel.shape()),
                        kTableAlignment);
}

Status add_results(HloInstruction& kernel, std::int64_t count) {
  std::vector<xla::Shape> results = kernel.shape().tuple_shapes();
  for (; count > 0; --count) results.push_back(shape_of(xla::U8, {kLineBytes}));
  xla::HloComputation& computation = *kernel.parent();
  HloInstruction* const made = computation.AddInstruction(kernel.CloneWithNewOperands(
      xla::ShapeUtil::MakeTupleShape(results),
      std::vector<HloInstruction*>(kernel.operands().begin(), kernel.operands().end())));
  const std::vector<HloInstruction*> users = kernel.users();
  for (HloInstruction* user : users) {
    HloInstruction* const element = computation.AddInstruction(
        HloInstruction::CreateGetTupleElement(user->shape(), made, user->tuple_index()));
    TFAOT_TRY(checked(user->ReplaceAllUsesWith(element)));
    TFAOT_TRY(checked(computation.RemoveInstruction(user)));
  }
  return checked(computation.RemoveInstruction(&kernel));
}

}  // namespace

Status align_temporaries(xla::HloModule& module) {
  std::int64_t bytes = 0;
  HloInstruction* last = nullptr;
  for (auto* computation : module.computations()) {
    for (auto* instruction : computation->instructions()) {
      if (!is_kernel_call(*instruction) || !instruction->shape().IsTuple()) continue;
      bytes += table_bytes(*instruction);
      if (instruction->IsRoot()) continue;
      last = instruction;
    }
  }
  const std::int64_t missing = xla::RoundUpTo(bytes, kLineBytes) - bytes;
  return last == nullptr || missing == 0 ? Status() : add_results(*last, missing / kPointerBytes);
}

}  // namespace tfaot::toolkit::engine
