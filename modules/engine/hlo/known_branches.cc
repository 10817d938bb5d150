// SPDX-License-Identifier: Apache-2.0
#include "hlo/known_branches.h"

#include <optional>
#include <vector>

#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/literal.h"
#include "xla/service/call_inliner.h"

namespace tfaot::toolkit::engine {
namespace {

// The number of the branch; nothing if it depends on the inputs.
std::optional<int> branch_taken(const xla::HloInstruction& instruction) {
  if (instruction.opcode() != xla::HloOpcode::kConditional ||
      instruction.operand(0)->opcode() != xla::HloOpcode::kConstant ||
      instruction.HasControlDependencies()) {
    return std::nullopt;
  }
  const xla::Literal& choice = instruction.operand(0)->literal();
  if (choice.shape().element_type() == xla::PRED) return choice.Get<bool>({}) ? 0 : 1;
  const int wanted = choice.Get<std::int32_t>({});
  const int count = instruction.branch_count();
  return wanted < 0 || wanted >= count ? count - 1 : wanted;
}

std::vector<xla::HloInstruction*> known_conditions(xla::HloModule& module) {
  std::vector<xla::HloInstruction*> known;
  for (auto* computation : module.computations()) {
    for (auto* instruction : computation->instructions()) {
      if (branch_taken(*instruction)) known.push_back(instruction);
    }
  }
  return known;
}

}  // namespace

absl::StatusOr<bool> KnownBranches::Run(
    xla::HloModule* module, const absl::flat_hash_set<absl::string_view>& /*execution_threads*/) {
  const auto known = known_conditions(*module);
  for (auto* condition : known) {
    const int branch = *branch_taken(*condition);
    auto* const call = condition->parent()->AddInstruction(xla::HloInstruction::CreateCall(
        condition->shape(), {condition->mutable_operand(1 + branch)},
        condition->branch_computation(branch)));
    call->set_metadata(condition->metadata());
    const auto replaced = condition->parent()->ReplaceInstruction(condition, call);
    if (!replaced.ok()) return replaced;
    const auto inlined = xla::CallInliner::Inline(call);
    if (!inlined.ok()) return inlined.status();
  }
  return !known.empty();
}

}  // namespace tfaot::toolkit::engine
