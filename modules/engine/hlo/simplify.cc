// SPDX-License-Identifier: Apache-2.0
#include "hlo/simplify.h"

#include "hlo/known_branches.h"
#include "hlo/simplifier_guards.h"
#include "xla/hlo/pass/hlo_pass_fix.h"
#include "xla/hlo/pass/hlo_pass_pipeline.h"
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

Status guard_from_simplifier(xla::HloModule& module) {
  return checked(SimplifierGuards().Run(&module, {}).status());
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

}  // namespace tfaot::toolkit::engine
