// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/constant_calls.h"

#include <fmt/format.h>

#include "absl/algorithm/container.h"
#include "compiler/hlo/build.h"
#include "compiler/hlo/simplify.h"
#include "tfaot/base/text.h"

namespace tfaot::toolkit::engine {
namespace {

constexpr std::string_view kCallName = "tfaot.constant_";

std::vector<HloInstruction*> constant_calls(const xla::HloComputation& computation) {
  std::vector<HloInstruction*> calls;
  for (HloInstruction* one : computation.instructions()) {
    if (one->opcode() == kCustomCall && one->operand_count() == 0 &&
        constant_of_call(one->custom_call_target())) {
      calls.push_back(one);
    }
  }
  return calls;
}

bool are_inside(const xla::HloModule& module) {
  return absl::c_any_of(module.computations(), [&](const xla::HloComputation* one) {
    return one != module.entry_computation() && !constant_calls(*one).empty();
  });
}

// The parameter of a branch becomes a tuple of it and of what its calls return; the calls are made
// before the choice.
Status lift_from_branch(HloInstruction& choice, int branch) {
  xla::HloComputation& inside = *choice.branch_computation(branch);
  const auto calls = constant_calls(inside);
  if (calls.empty()) return {};
  xla::HloComputation& outside = *choice.parent();
  HloInstruction* const given = choice.mutable_operand(branch + 1);
  std::vector<HloInstruction*> parts = {given};
  for (const HloInstruction* call : calls) parts.push_back(outside.AddInstruction(call->Clone()));
  HloInstruction* const all = tuple_of(parts);
  HloInstruction* const old = inside.parameter_instruction(0);
  HloInstruction* const parameter = inside.ReplaceParameter(
      0, HloInstruction::CreateParameter(0, all->shape(), std::string(old->name())));
  const std::vector<HloInstruction*> users = parameter->users();
  const bool is_root = inside.root_instruction() == parameter;
  HloInstruction* const first = element_of(parameter, 0);
  for (HloInstruction* user : users) {
    TFAOT_TRY(checked(parameter->ReplaceUseWithDifferentShape(user, first)));
  }
  if (is_root) inside.set_root_instruction(first, /*accept_different_shape=*/true);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    HloInstruction* const value = element_of(parameter, static_cast<std::int64_t>(i) + 1);
    TFAOT_TRY(checked(calls[i]->ReplaceAllUsesWith(value)));
    TFAOT_TRY(checked(inside.RemoveInstruction(calls[i])));
  }
  return checked(choice.ReplaceOperandWithDifferentShape(branch + 1, all));
}

Status lift_from_branches(xla::HloModule& module) {
  for (xla::HloComputation* computation : module.MakeComputationPostOrder()) {
    for (HloInstruction* one : computation->MakeInstructionPostOrder()) {
      if (one->opcode() != kConditional) continue;
      for (int i = 0; i < one->branch_count(); ++i) TFAOT_TRY(lift_from_branch(*one, i));
    }
  }
  return {};
}

// Branches hold loops, and loops hold branches: until nothing moves any more.
Status lift_to_entry(xla::HloModule& module) {
  constexpr int kMostLevels = 8;
  for (int i = 0; i < kMostLevels && are_inside(module); ++i) {
    TFAOT_TRY(lift_from_branches(module));
    TFAOT_TRY(hoist_invariants(module, Hoisted::kAll));
  }
  return {};
}

Status put_constant(HloInstruction& call, const CalledConstants& constants) {
  xla::HloComputation& computation = *call.parent();
  const std::size_t constant = *constant_of_call(call.custom_call_target());
  if (constant >= constants.shapes.size() ||
      !xla::ShapeUtil::Compatible(call.shape(), constants.shapes[constant])) {
    return {};  // the model's own call, which is refused
  }
  HloInstruction* value = nullptr;
  if (constants.parameter && computation.IsEntryComputation()) {
    value = computation.parameter_instruction(*constants.parameter +
                                              static_cast<std::int64_t>(constant));
  } else {
    TFAOT_ASSIGN(const Value literal, constants.read(constant));
    value = computation.AddInstruction(HloInstruction::CreateConstant(literal->Clone()));
  }
  return checked(call.ReplaceAllUsesWith(value));
}

}  // namespace

std::string constant_call(std::size_t constant) { return fmt::format("{}{}", kCallName, constant); }

std::optional<std::size_t> constant_of_call(std::string_view target) {
  if (!target.starts_with(kCallName)) return std::nullopt;
  return parse_number<std::size_t>(target.substr(kCallName.size()));
}

Status put_constants(xla::HloModule& module, const CalledConstants& constants) {
  TFAOT_TRY(inline_calls(module));
  if (constants.parameter) TFAOT_TRY(lift_to_entry(module));
  for (xla::HloComputation* computation : module.computations()) {
    for (HloInstruction* call : constant_calls(*computation)) {
      TFAOT_TRY(put_constant(*call, constants));
    }
  }
  return remove_dead_code(module);
}

}  // namespace tfaot::toolkit::engine
