// SPDX-License-Identifier: Apache-2.0
#include "compiler/hlo/simplify.h"

#include <optional>
#include <vector>

#include "compiler/hlo/passes.h"
#include "compiler/hlo/simplifier_guards.h"
#include "xla/hlo/ir/hlo_computation.h"
#include "xla/hlo/ir/hlo_instruction.h"
#include "xla/hlo/pass/hlo_pass_fix.h"
#include "xla/hlo/pass/hlo_pass_interface.h"
#include "xla/hlo/pass/hlo_pass_pipeline.h"
#include "xla/literal.h"
#include "xla/service/algebraic_simplifier.h"
#include "xla/service/batchnorm_expander.h"
#include "xla/service/call_inliner.h"
#include "xla/service/conditional_simplifier.h"
#include "xla/service/flatten_call_graph.h"
#include "xla/service/hlo_cse.h"
#include "xla/service/hlo_dce.h"
#include "xla/service/tuple_simplifier.h"
#include "xla/service/while_loop_invariant_code_motion.h"
#include "xla/service/while_loop_simplifier.h"

namespace tfaot::toolkit::engine {
namespace {

// Conditions whose choice is known become the branch that is taken. XLA's own simplifier keeps them
// if one of the branches draws random numbers, as that of a dropout does.
class KnownBranches : public xla::HloModulePass {
 public:
  absl::string_view name() const override { return "tfaot-known-branches"; }

  using HloPassInterface::Run;
  absl::StatusOr<bool> Run(
      xla::HloModule* module,
      const absl::flat_hash_set<absl::string_view>& execution_threads) override;
};

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

// Like XLA's CPU compiler, except that products stay products of any form: we can do more with
// them.
xla::AlgebraicSimplifierOptions algebra() {
  xla::AlgebraicSimplifierOptions options;
  options.set_enable_dot_strength_reduction(false);
  options.set_enable_dot_to_multiply_rewrite(false);
  options.set_enable_conv_simplification(false);
  options.set_enable_conv_operand_swap(false);
  options.set_enable_move_dot_param_to_rhs(false);
  options.set_minmax_propagate_nan(true);
  options.set_executing_on_cpu(true);
  return options;
}

// A number that is a tensor of one element becomes a scalar, which XLA's passes and ours look for.
Status make_numbers_scalars(xla::HloModule& module) {
  for (xla::HloComputation* computation : module.computations()) {
    for (xla::HloInstruction* one : computation->MakeInstructionPostOrder()) {
      if (one->opcode() != xla::HloOpcode::kReshape || one->shape().rank() != 0 ||
          one->operand(0)->opcode() != xla::HloOpcode::kConstant) {
        continue;
      }
      auto number = one->operand(0)->literal().Reshape({});
      if (!number.ok()) return checked(number.status());
      xla::HloInstruction* made =
          computation->AddInstruction(xla::HloInstruction::CreateConstant(*std::move(number)));
      TFAOT_TRY(checked(one->ReplaceAllUsesWith(made)));
    }
  }
  return {};
}

Status run(xla::HloPassPipeline& pipeline, xla::HloModule& module) {
  return checked(pipeline.Run(&module, {}).status());
}

}  // namespace

Status inline_calls(xla::HloModule& module) {
  xla::HloPassPipeline pipeline("tfaot-inline");
  pipeline.AddPass<xla::FlattenCallGraph>();
  pipeline.AddPass<xla::CallInliner>();
  return run(pipeline, module);
}

Status simplify(xla::HloModule& module) {
  TFAOT_TRY(inline_calls(module));
  xla::HloPassPipeline once("tfaot-expand");
  once.AddPass<xla::BatchNormExpander>(true, true, true);
  TFAOT_TRY(run(once, module));
  TFAOT_TRY(make_numbers_scalars(module));

  xla::HloPassPipeline again("tfaot-simplify");
  auto& fixed = again.AddPass<xla::HloPassFix<xla::HloPassPipeline>>("tfaot-simplify-loop");
  fixed.AddPass<SimplifierGuards>();
  fixed.AddPass<xla::AlgebraicSimplifier>(algebra());
  fixed.AddPass<xla::TupleSimplifier>();
  fixed.AddPass<xla::WhileLoopSimplifier>();
  fixed.AddPass<KnownBranches>();
  fixed.AddPass<xla::ConditionalSimplifier>();
  fixed.AddPass<xla::HloDCE>();
  fixed.AddPass<xla::HloCSE>(false);
  return run(again, module);
}

Status hoist_invariants(xla::HloModule& module, Hoisted hoisted) {
  xla::HloPassPipeline pipeline("tfaot-hoist");
  pipeline.AddPass<xla::WhileLoopInvariantCodeMotion>(hoisted == Hoisted::kAll, true);
  pipeline.AddPass<xla::TupleSimplifier>();
  TFAOT_TRY(run(pipeline, module));
  return remove_dead_code(module);
}

Status remove_dead_code(xla::HloModule& module) {
  xla::HloPassPipeline pipeline("tfaot-clean");
  pipeline.AddPass<xla::HloDCE>();
  pipeline.AddPass<xla::HloCSE>(false);
  return run(pipeline, module);
}

Status simplify(xla::HloModule& module, PassContext& /*context*/) { return simplify(module); }

Status hoist_invariants(xla::HloModule& module, PassContext& /*context*/) {
  return hoist_invariants(module);
}

Status guard_from_simplifier(xla::HloModule& module, PassContext& /*context*/) {
  return checked(SimplifierGuards().Run(&module, {}).status());
}

}  // namespace tfaot::toolkit::engine
